// The JSON of results, both ways. Schema 4; a file of schema 3 differs in that each of its rows is whole.
#pragma once

#include <string>
#include <vector>

#include "common/report/compact_rows.hpp"
#include "common/report/rows.hpp"

namespace halo {

// A row a line; what is not known of a row is left out of it, and what its variant's rows share is said once
// (CompactRows). Figures have six digits.
std::string to_json(const Results& results);
// Of this schema or the one before. Throws std::runtime_error: one line that names `origin` and says what is wrong.
Results results_from_json(const std::string& text, const std::string& origin);
// The file is whole or untouched (data::write_file); standard output, a pipe or a device is written to as it
// is. Throws data::NotWritten with one line.
void write_json(const std::string& path, const Results& results);
// Throws data::DataError if write_json would fail at once. Is standard output meant ("-", /dev/stdout), then
// it is the JSON's alone from now on: whatever else is printed goes to stderr.
void prepare_json(const std::string& path);
// Whether it is a file (that is there or not), which can grow and be read again.
bool is_json_file(const std::string& path);
// A results file that is written again, whole, each time rows are added: a run that is interrupted
// leaves what it had. Only the new rows are put into words. (What is no file cannot grow: it is left to
// write_json.)
class GrowingResults {
 public:
  // With the rows that the results have already; the file is not written yet.
  GrowingResults(const std::string& path, const Results& results);
  // Throws as write_json.
  void add(const std::vector<Row>& rows);

 private:
  std::string path_;
  Results head_;  // without rows
  CompactRows rows_;
};
// Throws std::runtime_error with one line.
Results read_json(const std::string& path);

// What a program tells while it runs (common/report/row_stream.hpp), each in one line without its
// end: all of results but the rows, a row, what is being done.
std::string head_line(const Results& results);
std::string row_line(const Row& row);
std::string begin_line(const Row& row);
std::string progress_line(const std::string& text);

struct Told {
  enum class Kind { head, row, begin, progress };
  Kind kind = Kind::progress;
  Results head;
  Row row;  // of `begin` as well
  std::string progress;
};
// Throws std::runtime_error: one line that names `origin`.
Told told_from_json(const std::string& line, const std::string& origin);

}  // namespace halo
