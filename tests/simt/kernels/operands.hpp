// The kernels of operands.cu: accesses that are operands of calls, and vectors in shared arrays.
#pragma once

#include <string>
#include <vector>

namespace operands {

struct Case {
  std::string name;
  int loads, load_sectors;    // of global memory
  int stores, store_sectors;  // of global memory
  int shared_stores;
  void (*run)();
};
// Each has known traffic and no finding.
std::vector<Case> counted();

// Each has one finding, at the line that says BUG and the case's name.
struct Planted {
  std::string name;
  std::string finding;
  void (*run)();
};
std::vector<Planted> planted();

// Of functions that call each other, on the device and on the host.
bool calls_by_turns_return_the_same();

// What clock() said twice in a kernel.
std::vector<long> clocks();

}  // namespace operands
