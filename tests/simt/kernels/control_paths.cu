// Small kernels, one shape of control flow each: the lanes of a warp part, skip, loop unequally
// often and meet again. What one warp instruction is follows from the rule "deepest stack frame
// first, then smallest program counter". The figures stand in counted_cases.cpp. The LINE markers
// name lines whose figures are tested one by one.
#include <cuda_runtime.h>

#include "control_paths.hpp"
#include "device_array.hpp"
#include "helper_loads.hpp"

namespace control_paths {

__global__ void if_else(const float* in, float* out) {
  const int t = threadIdx.x;
  float value;
  if (t % 2 == 0) {
    value = 2 * in[t];  // LINE if-branch
  } else {
    value = in[t + 32] + 1;  // LINE else-branch
  }
  out[t] = value;  // LINE after-branches
}

__global__ void some_then_all(const float* in, float* out) {
  const int t = threadIdx.x;
  float value = 0;
  if (t < 16) value = in[t];
  out[t] = value + in[t + 64];
}

__global__ void unequal_loops(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k <= t; ++k) sum += in[k * 32 + t];
  out[t] = sum;
}

__global__ void loop_with_break(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    if (k == t % 8) break;
    sum += in[k * 32 + t];
  }
  out[t] = sum;
}

__global__ void nested_loops(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int r = 0; r <= t % 3; ++r) {
#pragma unroll 1
    for (int c = 0; c <= t % 5; ++c) sum += in[r * 8 + c];
  }
  out[t] = sum;
}

// The number of steps depends on the lane in no simple way: 0 to 111 of them.
__global__ void collatz(const float* in, float* out) {
  const int t = threadIdx.x;
  int n = t + 1;
  float sum = 0;
#pragma unroll 1
  while (n != 1) {
    sum += in[n % 64];
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  }
  out[t] = sum;
}

__global__ void four_way_switch(const float* in, float* out) {
  const int t = threadIdx.x;
  float value = 0;
  switch (t % 4) {
    case 0:
      value = in[t] + 1;
      break;
    case 1:
      value = in[t + 32] * 2;
      break;
    case 2:
      value = in[t + 64] - 3;
      break;
    default:
      value = 1 / in[t + 96];
  }
  out[t] = value;
}

__global__ void short_circuit(const int* in, int* out) {
  const int t = threadIdx.x;
  if (in[t] < 24 && in[t + 32] % 2 == 0 && in[t + 64] % 8 == 0) out[t] = 1;
}

__global__ void early_return(const float* in, float* out) {
  const int t = threadIdx.x;
  if (t >= 20) return;
  out[t] = in[t];
}

__global__ void continue_and_helper(const float* in, float* out) {
  const int t = threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) {
    if ((k + t) % 4 == 0) continue;
    sum += load_in_noinline_helper(in, k * 32 + t);
  }
  out[t] = sum;
}

__global__ void inline_helper_twice(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = load_in_inline_helper(in, t) + load_in_inline_helper(in, t + 32);
}

__global__ void helper_in_both_branches(const float* in, float* out) {
  const int t = threadIdx.x;
  float value;
  if (t < 16) {
    value = load_in_noinline_helper(in, t) + 1;
  } else {
    value = 2 * load_in_noinline_helper(in, t + 32);
  }
  out[t] = value;
}

// `depth` differs from lane to lane.
__device__ __noinline__ float sum_before_descent(const float* in, int depth) {
  const float value = in[depth * 32 + threadIdx.x];
  if (depth == 0) return value;
  return value + 2 * sum_before_descent(in, depth - 1);
}

__device__ __noinline__ float sum_after_descent(const float* in, int depth) {
  float sum = 0;
  if (depth > 0) sum = 2 * sum_after_descent(in, depth - 1);
  return sum + in[depth * 32 + threadIdx.x];
}

__global__ void recursion(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = sum_before_descent(in, t % 4);
}

__global__ void recursion_loads_last(const float* in, float* out) {
  const int t = threadIdx.x;
  out[t] = sum_after_descent(in, t % 4);
}

__global__ void shuffle_between_loads(const float* in, float* out) {
  const int t = threadIdx.x;
  float value = 0;
  if (t % 2 == 0) value = in[t];
  value += __shfl_xor_sync(0xffffffffu, value, 1);
  out[t] = value + in[t + 32];
}

// Loads on both sides of barriers; in the loop different warps work in each round.
__global__ void barriers_in_loop(const float* in, float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  cells[t] = in[t];
#pragma unroll 1
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) cells[t] += cells[t + half];
  }
  if (t == 0) out[blockIdx.x] = cells[0];
}

// ---- host side ----

// Launches one warp on in[i] = i + 1 and compares with `want(in, t)`.
template <typename Want>
static bool one_warp(void (*kernel)(const float*, float*), Want want) {
  std::vector<float> input(1024);
  for (int i = 0; i < 1024; ++i) input[i] = static_cast<float>(i + 1);
  DeviceArray<float> in(input), out(std::vector<float>(32, 0.0f));
  kernel<<<1, 32>>>(in.get(), out.get());
  if (cudaGetLastError() != cudaSuccess) return false;
  return out.holds([&](int t) { return want(input.data(), t); });
}

bool run_if_else() {
  return one_warp(if_else,
                  [](const float* in, int t) { return t % 2 == 0 ? 2 * in[t] : in[t + 32] + 1; });
}

bool run_some_then_all() {
  return one_warp(some_then_all,
                  [](const float* in, int t) { return (t < 16 ? in[t] : 0) + in[t + 64]; });
}

bool run_unequal_loops() {
  return one_warp(unequal_loops, [](const float* in, int t) {
    float sum = 0;
    for (int k = 0; k <= t; ++k) sum += in[k * 32 + t];
    return sum;
  });
}

bool run_loop_with_break() {
  return one_warp(loop_with_break, [](const float* in, int t) {
    float sum = 0;
    for (int k = 0; k < t % 8; ++k) sum += in[k * 32 + t];
    return sum;
  });
}

bool run_nested_loops() {
  return one_warp(nested_loops, [](const float* in, int t) {
    float sum = 0;
    for (int r = 0; r <= t % 3; ++r) {
      for (int c = 0; c <= t % 5; ++c) sum += in[r * 8 + c];
    }
    return sum;
  });
}

bool run_collatz() {
  return one_warp(collatz, [](const float* in, int t) {
    float sum = 0;
    for (int n = t + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) sum += in[n % 64];
    return sum;
  });
}

bool run_four_way_switch() {
  return one_warp(four_way_switch, [](const float* in, int t) {
    if (t % 4 == 0) return in[t] + 1;
    if (t % 4 == 1) return in[t + 32] * 2;
    if (t % 4 == 2) return in[t + 64] - 3;
    return 1 / in[t + 96];
  });
}

bool run_short_circuit() {
  std::vector<int> input(96), want(32, 0);
  for (int i = 0; i < 96; ++i) input[i] = i % 32;
  for (int t = 0; t < 24; t += 8) want[t] = 1;
  DeviceArray<int> in(input), out(std::vector<int>(32, 0));
  short_circuit<<<1, 32>>>(in.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

bool run_early_return() {
  return one_warp(early_return, [](const float* in, int t) { return t < 20 ? in[t] : 0.0f; });
}

bool run_continue_and_helper() {
  return one_warp(continue_and_helper, [](const float* in, int t) {
    float sum = 0;
    for (int k = 0; k < 8; ++k) {
      if ((k + t) % 4 != 0) sum += in[k * 32 + t];
    }
    return sum;
  });
}

bool run_inline_helper_twice() {
  return one_warp(inline_helper_twice, [](const float* in, int t) { return in[t] + in[t + 32]; });
}

bool run_helper_in_both_branches() {
  return one_warp(helper_in_both_branches,
                  [](const float* in, int t) { return t < 16 ? in[t] + 1 : 2 * in[t + 32]; });
}

static float weighted_descent(const float* in, int t) {
  float sum = 0;
  for (int depth = 0; depth <= t % 4; ++depth) sum = in[depth * 32 + t] + 2 * sum;
  return sum;
}

bool run_recursion() { return one_warp(recursion, weighted_descent); }
bool run_recursion_loads_last() { return one_warp(recursion_loads_last, weighted_descent); }

bool run_shuffle_between_loads() {
  return one_warp(shuffle_between_loads,
                  [](const float* in, int t) { return in[t / 2 * 2] + in[t + 32]; });
}

bool run_barriers_in_loop() {
  std::vector<float> input(64);
  for (int i = 0; i < 64; ++i) input[i] = static_cast<float>(i);
  DeviceArray<float> in(input), out(3);
  barriers_in_loop<<<3, 64>>>(in.get(), out.get());
  return cudaGetLastError() == cudaSuccess && out.download() == std::vector<float>(3, 2016.0f);
}

}  // namespace control_paths
