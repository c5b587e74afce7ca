// What steps 5 and 6 of stage 12 do with the pieces of a row: registers of a thread, none of them in memory.
#pragma once

#include "stages/12_fused_softmax/piece.cuh"
#include "stages/12_fused_softmax/registers.h"

namespace halo::fused_softmax {

// Over kLanes neighbours of a warp: each gets the result, always from the same order of operations.
template <int kLanes, class Op>
__device__ __forceinline__ float reduce_lanes(float value, const Op& op) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

// The largest of kLanes neighbours. A whole warp has one instruction for it, but for integers: with the lower bits of
// negative numbers inverted, the bits of floats are in the order of the floats. (fmaxf has left no NaN.)
template <int kLanes>
__device__ __forceinline__ float largest_of_lanes(float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  if constexpr (kLanes == kWarpSize) {
    int bits = __float_as_int(value);
    bits = __reduce_max_sync(0xffffffffu, bits ^ (bits >> 31 & 0x7fffffff));
    return __int_as_float(bits ^ (bits >> 31 & 0x7fffffff));
  }
#endif
  return reduce_lanes<kLanes>(value, Largest());
}

// [doc:parts]
// What is known of some cells of a row: their largest, and the sum of exp(cell - base_of(largest)).
struct Part {
  float largest, sum;
};

// -INFINITY less itself is no number: of cells that are nothing else, 0 is subtracted.
__device__ __forceinline__ float base_of(float largest) {
  return largest == -INFINITY ? 0.0f : largest;
}

// A part of each lane, of a warp: all get the whole. One exchange, where a maximum and then a sum would be two.
__device__ __forceinline__ Part join_lanes(Part part) {
  const float largest = largest_of_lanes<kWarpSize>(part.largest);
  const float sum = expf(part.largest - base_of(largest)) * part.sum;
  return {largest, reduce_lanes<kWarpSize>(sum, Sum())};
}
// [/doc:parts]

// Up to 32 parts in shared memory, 8 bytes each: all lanes get the whole.
__device__ __forceinline__ Part join_parts(const float2* parts, int count) {
  const int lane = threadIdx.x % kWarpSize;
  const float2 part = lane < count ? parts[lane] : make_float2(-INFINITY, 0.0f);  // or of nothing
  return join_lanes({part.x, part.y});
}

// A part of each warp, of a block of kThreads: all threads get the whole.
template <int kThreads>
__device__ __forceinline__ Part join_warps(const Part& part,
                                           float2* parts) {  // [kThreads / kWarpSize]
  if (threadIdx.x % kWarpSize == 0) {
    parts[threadIdx.x / kWarpSize] = make_float2(part.largest, part.sum);
  }
  __syncthreads();
  return join_parts(parts, kThreads / kWarpSize);
}

// The cells of a thread, kPieces of them, become exp(cell - base_of(largest)) with the largest of the kLanes that it
// is one of. Returns what these lanes know.
template <int kLanes, int kPieces, class Piece>
__device__ __forceinline__ Part exponentials(Piece (&cells)[kPieces]) {
  float largest = Largest::identity;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) largest = fmaxf(largest, reduce(cells[p], Largest()));
  largest = largest_of_lanes<kLanes>(largest);
  float sum = Sum::identity;
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    cells[p] = exponential(cells[p], base_of(largest));
    sum += reduce(cells[p], Sum());
  }
  return {largest, reduce_lanes<kLanes>(sum, Sum())};
}

// What the exponentials of these lanes are multiplied by, to be what they are of the row's sum. A factor that is nearly
// subnormal is not divided: its rounding would count twice. They get it first.
template <int kPieces, class Piece>
__device__ __forceinline__ float share_of(Piece (&cells)[kPieces], const Part& lanes,
                                          const Part& row) {
  float factor = expf(lanes.largest - base_of(row.largest));
  if (factor < 1e-30f) {
#pragma unroll
    for (int p = 0; p < kPieces; ++p) cells[p] = product(cells[p], factor);
    factor = 1.0f;
  }
  return factor / row.sum;
}

}  // namespace halo::fused_softmax
