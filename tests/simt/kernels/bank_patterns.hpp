// Shared-memory access of one warp at the cells that a table names: any pattern, at any width.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace bank_patterns {

constexpr int kCells = 512;

// The cell of each lane, -1 for a lane that does not take part.
using Cells = std::array<int, 32>;

// Each launches one kernel of one block of one warp on a shared array of kCells elements of
// `element_bytes` (1, 2, 4, 8 or 16) and returns true if the values came back right.
// run_load: the array is filled from end to end (kCells / 32 stores without conflicts), then each
// lane loads its cell, one load instruction.
// run_store: each lane stores to its cell (all distinct), one store instruction, and after a
// barrier loads the cell of its neighbour t ^ 1.
bool run_load(int element_bytes, const Cells& cells);
bool run_store(int element_bytes, const Cells& cells);

// A pattern and what an H200 counted for it (one row of bank_patterns.csv).
struct Measured {
  std::string name;
  bool store = false;
  int element_bytes = 0;
  Cells cells{};
  int wavefronts = 0;
  int conflicts = 0;
};

// Reads bank_patterns.csv. Throws std::runtime_error when it is missing or a row is not understood.
std::vector<Measured> read_measured(const std::string& path);

}  // namespace bank_patterns
