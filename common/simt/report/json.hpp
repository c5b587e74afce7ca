// The file that SIMT_REPORT names: {"schema_version": 1, "program": "...", "launches": [...],
// "coverage": {...}, "unfreed": [...], "suppressions": [...]}, an entry a launch; the last three are added when the program
// ends, suppressions only where there are rules.
//
// It is whole after each launch: a program that crashes or is ended later leaves all launches before.
// Each is put into words and written once, over the brackets that end the file, which follow it
// again; so of many launches each costs what the first one did. (The other way, a new file for each
// launch under the old one's name, costs the square of the launches.) The price: while the program
// is in the middle of a write, the last entry may be cut short. Who reads meanwhile and must not see
// that holds a shared lock (flock), for which the writer waits; a kill in that very moment leaves it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/simt/report/verdict.hpp"
#include "common/simt/simt.hpp"

namespace simt {

// A list of entries as the report has them, each with the `printed` lines of its kernel.
std::string json_of(const std::vector<Launch>& launches);
// As the report has it, but for code of kernels that were not launched.
std::string json_of(Coverage coverage);

class Report {
 public:
  // Nothing is written before the first launch.
  // Whoever reads it knows by the seal that it is all ours: the end has it, and puts the whole text in the place of what has
  // become of the file. Empty: it has none.
  Report(std::string path, std::string seal) : path_(std::move(path)), seal_(std::move(seal)) {}
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // Ends the program with a line on stderr and exit status 2 if the file cannot be written; it then
  // holds the launches before, if there is room for as much.
  // `suppressing` has of each finding the rule that suppresses it, or null.
  void add(const Launch& launch, const std::vector<const report::Rule*>& suppressing);

  bool has_begun() const { return file_ >= 0; }
  // At the program's end, once it has begun: which lines all its launches reached, and the memory that is
  // still allocated.
  void end(const Coverage& coverage, const std::vector<LiveAllocation>& unfreed,
           const std::vector<report::Rule>& suppressions);

 private:
  // A file that was at the path is replaced by the first launch, at once and whole.
  void begin(const std::string& text, std::string_view end);
  void append(const std::string& text, std::string_view end);

  std::string path_;
  std::string seal_;
  std::string all_;  // of what has a seal
  int file_ = -1;
  long long end_ = 0;  // of the last launch: what ends the file stands there
};

}  // namespace simt
