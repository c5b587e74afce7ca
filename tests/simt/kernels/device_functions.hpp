// The kernels of device_functions.cu: what device functions return, and how vector types move.
#pragma once

#include <vector>

namespace device_functions {

// Results of integer and conversion functions that must be the same everywhere, in one list.
struct Exact {
  long long got, expected;
};
std::vector<Exact> exact_results();

// Results of one function over the 32 lanes of a warp, lane by lane.
struct WarpResult {
  const char* name;
  std::vector<long long> lanes;
};
std::vector<WarpResult> warp_results();

// Old value returned by each atomic (or the cell afterwards), one operation an entry.
struct Atomic {
  double got, expected;
};
std::vector<Atomic> atomic_results();

// Kernels that move vectors, one warp each. Each returns true if its values came out right.
struct VectorCase {
  const char* name;
  bool (*run)();
  int load_requests;  // a warp's loads and stores in global memory
  int load_sectors;
  int store_requests;
  int store_sectors;
};
const std::vector<VectorCase>& vector_cases();

// True if a kernel sees threadIdx and its kin as it should in a grid of 2 x 3 x 2 blocks of 4 x 2 x 3.
bool run_indices();

// What a fast function of the GPU gives for each of these values.
enum class Fast { exp, exp10, log, log2, log10, sin, cos, tanh, quotient_of_3_3 };
std::vector<float> fast_results(Fast function, const std::vector<float>& values);
float fast_power(float base, float exponent);
float fast_quotient(float dividend, float divisor);

// True if clock64 only grows, for each thread of several blocks.
bool clock_grows();

}  // namespace device_functions
