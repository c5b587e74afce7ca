// Stands in for CUB's <cub/warp/warp_reduce.cuh>: the reduction over a logical warp by shuffles, in
// CUB's order.
#pragma once

#include "../../cuda_runtime.h"

namespace cub {

template <typename T, int LOGICAL_WARP_THREADS = 32>
class WarpReduce {
  static_assert(
      LOGICAL_WARP_THREADS > 0 && LOGICAL_WARP_THREADS <= 32 &&
          (LOGICAL_WARP_THREADS & (LOGICAL_WARP_THREADS - 1)) == 0,
      "cub::WarpReduce of a size that is no power of two is outside the simulator's subset: "
      "take the next larger one and valid_items");

 public:
  struct TempStorage {  // shuffles need none
    unsigned char unused;
  };

  SIMT_INLINE WarpReduce(TempStorage&) {}

  // The result is valid in lane 0 of the logical warp; with `valid_items` the first so many lanes
  // take part.
  SIMT_INLINE T Sum(T input) { return Sum(input, LOGICAL_WARP_THREADS); }
  SIMT_INLINE T Sum(T input, int valid_items) {
    return Reduce(
        input, [](T a, T b) -> T { return a + b; }, valid_items);
  }
  template <typename ReductionOp>
  SIMT_INLINE T Reduce(T input, ReductionOp reduction_op) {
    return Reduce(input, reduction_op, LOGICAL_WARP_THREADS);
  }
  template <typename ReductionOp>
  SIMT_INLINE T Reduce(T input, ReductionOp reduction_op, int valid_items) {
    const unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int lane = static_cast<int>(thread % LOGICAL_WARP_THREADS);
    constexpr unsigned int all = ~0u >> (32 - LOGICAL_WARP_THREADS);
    const unsigned int mask = all << (thread % 32 - thread % LOGICAL_WARP_THREADS);
    for (int offset = 1; offset < LOGICAL_WARP_THREADS; offset *= 2) {
      // A lane that takes nothing from another reads its own value.
      const bool takes = lane + offset < valid_items;
      const T other = simt::detail::exchange_value(
          mask, input, simt::Exchange::index,
          static_cast<unsigned int>(takes ? lane + offset : lane), LOGICAL_WARP_THREADS);
      if (takes) input = reduction_op(input, other);
    }
    return input;
  }

#define SIMT_NO_SEGMENTS "it has no segmented reductions, use one logical warp for each segment"
  SIMT_OUTSIDE(T, HeadSegmentedSum, SIMT_NO_SEGMENTS)
  SIMT_OUTSIDE(T, TailSegmentedSum, SIMT_NO_SEGMENTS)
  SIMT_OUTSIDE(T, HeadSegmentedReduce, SIMT_NO_SEGMENTS)
  SIMT_OUTSIDE(T, TailSegmentedReduce, SIMT_NO_SEGMENTS)
#undef SIMT_NO_SEGMENTS
};

#define SIMT_NO_FUNCTOR "CUDA 13 has dropped it, pass a functor or a lambda of your own"
SIMT_OUTSIDE(int, Sum, SIMT_NO_FUNCTOR)
SIMT_OUTSIDE(int, Max, SIMT_NO_FUNCTOR)
SIMT_OUTSIDE(int, Min, SIMT_NO_FUNCTOR)
#undef SIMT_NO_FUNCTOR

}  // namespace cub
