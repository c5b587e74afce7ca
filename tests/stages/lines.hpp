// That what is tried reaches every line of a stage's kernels, but those of unreached_lines.csv.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/simt/simt.hpp"

namespace halo::test {

// A line that nothing reaches, or whose branch always goes one way, and why that may be.
struct KnownLine {
  std::string file;  // from the repository's root
  std::string
      after;         // empty; or text that stands in a line above it, nearer than any other like it
  std::string text;  // of the line, without the spaces at its ends
  std::string what;  // "line", or "branch": one that is reached, but goes one way only
  std::string reason;  // a sentence
};

// The rows of a CSV file with these columns. Throws std::runtime_error.
std::vector<KnownLine> read_known_lines(const std::string& path);

// Which lines of the kernels in some files were reached, and which ways their branches went; any
// instantiation and any launch will do.
class LinesOf {
 public:
  // Of the files whose names, from the repository's root, begin so: "stages/04_conv1d_tiled_halo/". Folders below have
  // tests of their own.
  explicit LinesOf(std::vector<std::string> beginnings) : beginnings_(std::move(beginnings)) {}

  void add(const simt::Coverage& ran);

  // What is wrong, a line each: lines that were not reached, and branches that went one way only, that are
  // not known; known ones of these files of which that is not so, or that are not in their file. Also if
  // nothing ran at all.
  // `root` is the repository's.
  std::vector<std::string> complaints(const std::vector<KnownLine>& known,
                                      const std::string& root) const;

 private:
  std::vector<std::string> beginnings_;
  std::map<std::string, std::map<int, bool>> reached_;  // by file and line
  using Way = std::tuple<int, int, int, bool>;          // line, column, where it leads, again
  std::map<std::string, std::map<Way, bool>> taken_;    // by file
};

}  // namespace halo::test
