// Signals that the tests of the 1D stages count.
#pragma once

#include <vector>

#include "common/harness/families/conv1d.hpp"

namespace halo::test {

// The problem of the known answers.
inline Conv1dProblem known_signal() { return {100'000, 9, 256}; }

// Problems whose traffic is easy to predict wrongly.
inline std::vector<Conv1dProblem> counted_signals() {
  return {
      known_signal(),
      {1, 1, 1},
      {1, 1023, 1024},
      {1000, 3, 16},
      {1000, 31, 33},
      {777, 129, 48},
      {300, 1023, 64},
      {2053, 5, 1000},
      {500, 63, 1},
      {4099, 17, 256},
      {4099, 1, 256},
      {700, 31, 64},
      {1287, 29, 64},  // every distance from a multiple of 16 bytes
      {1287, 27, 64},
      {1287, 25, 64},
      {2571, 35, 64},
      {1000, 9, 100, conv::Border::report},
      {257, 257, 256, conv::Border::report},
  };
}

}  // namespace halo::test
