// The kernels with known memory traffic, and their figures: what an H200 counted (known_answers) or
// what follows by hand from the rules (the others). Used by the tests, which hold the simulator to
// every figure, and by counted_cases_main.cpp, which runs the same kernels under a profiler.
#pragma once

#include <vector>

#include "common/simt/simt.hpp"

struct CountedCase {
  const char* name;
  bool (*run)();  // launches one kernel once; true if its values are right
  simt::Counters expected;
  const char* hardware_note = nullptr;  // why an H200 counts some of them differently
};

// Requests and sectors of global loads and stores.
inline simt::Counters global_only(std::uint64_t load_requests, std::uint64_t load_sectors,
                                  std::uint64_t store_requests, std::uint64_t store_sectors) {
  simt::Counters counters;
  counters.global_load_requests = load_requests;
  counters.global_load_sectors = load_sectors;
  counters.global_store_requests = store_requests;
  counters.global_store_sectors = store_sectors;
  return counters;
}

struct Shared {
  std::uint64_t requests = 0, wavefronts = 0, conflicts = 0;
};

inline simt::Counters with_shared(simt::Counters counters, Shared loads, Shared stores,
                                  std::uint64_t barriers = 0) {
  counters.shared_load_requests = loads.requests;
  counters.shared_load_wavefronts = loads.wavefronts;
  counters.shared_load_conflicts = loads.conflicts;
  counters.shared_store_requests = stores.requests;
  counters.shared_store_wavefronts = stores.wavefronts;
  counters.shared_store_conflicts = stores.conflicts;
  counters.barriers = barriers;
  return counters;
}

const std::vector<CountedCase>& known_answers_cases();
const std::vector<CountedCase>& memory_shape_cases();
const std::vector<CountedCase>& control_path_cases();
