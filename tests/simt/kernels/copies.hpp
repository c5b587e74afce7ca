// The kernels of copies.cu: asynchronous copies whose traffic is known.
#pragma once

#include <vector>

namespace copies {

// One warp that copies to shared memory and waits. `run` returns true if the data arrived.
struct Case {
  const char* name;
  bool (*run)();
  int load_requests;
  int load_sectors;
  int store_requests;  // of shared memory
  int store_wavefronts;
  int store_conflicts;
};
const std::vector<Case>& cases();

}  // namespace copies
