// What becomes of a finding: how it is told, whether it fails a run, and whether a file of suppressions has a rule for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/checker/hazards.hpp"
#include "common/simt/simt.hpp"

namespace simt {

/// "sum" of "void halo::sum<float>(float const*, int)".
std::string short_name(const std::string& kernel);

}  // namespace simt

namespace simt::report {

/// `reverse.cu:12: error: race of tile in reverse(float*): MESSAGE (256 times)`: as compilers tell it, for their readers.
std::string told(const Finding& finding, const std::string& kernel);

/// "race of tile"
std::string title(const Finding& finding);

/// Which findings fail a run.
class FailOn {
 public:
  /// Of words between commas: `errors`, `notes` (those too), kinds of findings; or `none`. Throws std::invalid_argument,
  /// which says what there is.
  explicit FailOn(std::string_view words = "errors");
  bool fails(const Finding& finding) const;

 private:
  bool errors_ = false, notes_ = false;
  std::vector<std::string> kinds_;
};

/// A line of a file of suppressions.
struct Rule {
  std::string file;  // it stands in
  int line = 0;
  std::string text;  // without the reason
  std::string reason;
  std::uint64_t used = 0;  // findings that it has suppressed

  std::string kind;
  // Patterns as a shell's (fnmatch); empty: any.
  std::string kernel, array, source;
  int source_line = 0;  // 0: any

  /// A kernel's pattern is for its whole name or its short one, a source's for the end of its path.
  bool is_for(const Finding& finding, const std::string& kernel) const;
};

/// `simt.supp:4: note: ...`: that it has suppressed nothing.
std::string told_unused(const Rule& rule);

/// Throws std::runtime_error: a line that says which file, line and what is wrong.
std::vector<Rule> read_suppressions(const std::string& file);

}  // namespace simt::report
