// Finds a line of a source by what its comment says.
#pragma once

#include <fstream>
#include <string>

#include "tests/catch.hpp"

namespace halo::test {

/// The number of the first line of `file`, a path from the root, that has `mark` in it; at its end, if it ends with '\n'.
inline int marked_line(const std::string& file, const std::string& mark) {
  std::ifstream in(std::string(HALO_SOURCE_ROOT) + "/" + file);
  REQUIRE(in);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if ((line + "\n").find(mark) != std::string::npos) return number;
  }
  FAIL("no line of " << file << " has " << mark);
  return 0;
}

}  // namespace halo::test
