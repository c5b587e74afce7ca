// Which lines of its own kernels a variant was tried with.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "common/report/rows.hpp"
#include "common/simt/simt.hpp"

namespace halo {

// Collects over all problems of one variant.
class TriedLines {
 public:
  // `source` is the file of the variant's kernels, from the repository's root. If it belongs to it alone,
  // all kernels in it are the variant's; if it `is_shared` with others, those that the variant launched.
  // The functions that they call are the variant's too, wherever they stand.
  TriedLines(std::string source, bool is_shared)
      : source_(std::move(source)), is_shared_(is_shared) {}

  // What ran while nobody else launched anything.
  void add(const simt::Coverage& ran);

  // REACHED or UNREACHED; NOT RUN if nothing was launched.
  Coverage so_far() const;

 private:
  std::string source_;
  bool is_shared_;
  std::map<std::pair<std::string, int>, bool> lines_;  // whether it was reached, by file and line
  // Whether it was taken, by file, line, column, where it leads, and whether it is a loop's way back.
  std::map<std::tuple<std::string, int, int, int, bool>, bool> ways_;
};

}  // namespace halo
