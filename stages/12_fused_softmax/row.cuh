// What steps 5 and 6 of stage 12 do with the pieces of a row: registers of a thread, none of them in memory.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"
#include "stages/12_fused_softmax/registers.h"

namespace halo::fused_softmax {

struct Largest {
  static constexpr float identity = -INFINITY;
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  static constexpr float identity = 0.0f;
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ __forceinline__ float reduce(float a, const Op&) {
  return a;
}
template <class Op>
__device__ __forceinline__ float reduce(float4 a, const Op& op) {
  return op(op(a.x, a.y), op(a.z, a.w));
}
__device__ __forceinline__ void fill(float& a, float value) { a = value; }
__device__ __forceinline__ void fill(float4& a, float value) {
  a = make_float4(value, value, value, value);
}
__device__ __forceinline__ float exponential(float a, float largest) { return expf(a - largest); }
__device__ __forceinline__ float4 exponential(float4 a, float largest) {
  return make_float4(expf(a.x - largest), expf(a.y - largest), expf(a.z - largest),
                     expf(a.w - largest));
}
__device__ __forceinline__ float quotient(float a, float sum) { return a / sum; }
__device__ __forceinline__ float4 quotient(float4 a, float sum) {
  return make_float4(a.x / sum, a.y / sum, a.z / sum, a.w / sum);
}

// Over kLanes neighbours of a warp: each gets the result, always from the same order of operations.
template <int kLanes, class Op>
__device__ __forceinline__ float reduce_lanes(float value, const Op& op) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// Over a block of kThreads: each warp leaves its own, and each adds up all of them. `partials` is one that no thread has
// used since the last barrier.
template <int kThreads, class Op>
__device__ __forceinline__ float reduce_block(float value,
                                              float* partials,  // [kThreads / kWarpSize]
                                              const Op& op) {
  constexpr int kWarps = kThreads / kWarpSize;
  value = reduce_lanes<kWarpSize>(value, op);
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) partials[threadIdx.x / kWarpSize] = value;
  __syncthreads();
  return reduce_lanes<kWarps>(partials[lane % kWarps], op);
}

}  // namespace halo::fused_softmax
