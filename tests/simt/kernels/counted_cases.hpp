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

const std::vector<CountedCase>& known_answers_cases();
const std::vector<CountedCase>& memory_shape_cases();
const std::vector<CountedCase>& control_path_cases();
