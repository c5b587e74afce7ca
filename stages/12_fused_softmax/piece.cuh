// Steps 5 and 6 of stage 12: a piece of a row is four cells, 16 bytes, or one where rows do not begin on 16 bytes.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"

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
// What a cell that does not exist counts as: it changes neither maximum nor sum.
__device__ __forceinline__ float nothing(float) { return -INFINITY; }
__device__ __forceinline__ float4 nothing(float4) {
  return make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
}
__device__ __forceinline__ float exponential(float a, float largest) { return expf(a - largest); }
__device__ __forceinline__ float4 exponential(float4 a, float largest) {
  return make_float4(expf(a.x - largest), expf(a.y - largest), expf(a.z - largest),
                     expf(a.w - largest));
}
__device__ __forceinline__ float product(float a, float b) { return a * b; }
__device__ __forceinline__ float4 product(float4 a, float b) {
  return make_float4(a.x * b, a.y * b, a.z * b, a.w * b);
}

}  // namespace halo::fused_softmax
