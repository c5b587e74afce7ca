// Rows on their way to the program that started this one, which shows them.
#pragma once

#include <string>
#include <vector>

#include "common/report/rows.hpp"

namespace halo {

/// The environment variable that names the pipe: the number of its descriptor.
inline constexpr const char* kStreamVariable = "HALO_STREAM";

/// Tells of a run as it goes, a line of JSON for each thing said: the head (command, date, seed,
/// machine), each row once it is final, and what is being done. Says nothing where nobody listens.
class RowStream {
 public:
  /// To whoever started this program: open if the environment names a pipe for it.
  static RowStream& to_starter();

  /// The same for a caller who tells something else than rows: to_starter() finds nobody from now on.
  static RowStream taken_from_starter();

  /// Into this descriptor; closed if it is negative.
  explicit RowStream(int descriptor) : descriptor_(descriptor) {}

  /// Whether somebody listens: then it is theirs to show the rows.
  bool open() const { return descriptor_ >= 0; }

  /// All but the rows. What is told later counts: the roofs, say, once they are measured.
  void head(const Results& results);
  void rows(const std::vector<Row>& rows);
  /// What is about to be checked: if nothing more is heard, this did it.
  void begin(const Row& row);
  void progress(const std::string& text);
  /// Of another kind, in its own words: JSON on one line, without its end.
  void line(const std::string& json);

 private:
  void write(const std::string& line);

  int descriptor_;
};

}  // namespace halo
