// Stands in for CUB's <cub/block/block_reduce.cuh>: each warp reduces by shuffles, its lane 0 puts the
// result into shared memory, and after a barrier thread 0 combines them, in CUB's order. So the next
// use of the same TempStorage needs a barrier before it, and without one the race is found.
#pragma once

#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <typename T, int BLOCK_DIM_X,
          BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1>
class BlockReduce {
  static_assert(ALGORITHM == BLOCK_REDUCE_WARP_REDUCTIONS,
                "cub::BlockReduce by raking is outside the simulator's subset: leave the algorithm "
                "out, or name BLOCK_REDUCE_WARP_REDUCTIONS");
  // Not static members: with -fno-weak each file would have its own.
  enum { kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, kWarps = (kThreads + 31) / 32 };
  static_assert(kThreads > 0 && kThreads <= 1024, "a block has 1 to 1024 threads");

 public:
  // Laid out as CUB's, so that a kernel needs as much shared memory here as there.
  struct TempStorage {
    unsigned char warp_reduce[kWarps];
    T warp_aggregates[kWarps];
    T block_prefix;
  };

  template <int None = 0>
  SIMT_INLINE BlockReduce() : storage_(*static_cast<TempStorage*>(nullptr)) {
    static_assert(
        None != 0,
        "cub::BlockReduce with storage of its own is outside the simulator's subset: pass "
        "it a __shared__ TempStorage");
  }
  SIMT_INLINE BlockReduce(TempStorage& storage) : storage_(storage) {}

  // The result is valid in thread 0. With `num_valid` the first so many threads contribute.
  SIMT_INLINE T Sum(T input) { return Sum(input, kThreads); }
  SIMT_INLINE T Sum(T input, int num_valid) {
    return Reduce(
        input, [](T a, T b) -> T { return a + b; }, num_valid);
  }
  template <int ITEMS_PER_THREAD>
  SIMT_INLINE T Sum(T (&inputs)[ITEMS_PER_THREAD]) {
    return Reduce(inputs, [](T a, T b) -> T { return a + b; });
  }
  template <typename ReductionOp>
  SIMT_INLINE T Reduce(T input, ReductionOp reduction_op) {
    return Reduce(input, reduction_op, kThreads);
  }
  template <int ITEMS_PER_THREAD, typename ReductionOp>
  SIMT_INLINE T Reduce(T (&inputs)[ITEMS_PER_THREAD], ReductionOp reduction_op) {
    T partial = inputs[0];
    for (int i = 1; i < ITEMS_PER_THREAD; ++i) partial = reduction_op(partial, inputs[i]);
    return Reduce(partial, reduction_op);
  }
  template <typename ReductionOp>
  SIMT_INLINE T Reduce(T input, ReductionOp reduction_op, int num_valid) {
    const unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int warp = static_cast<int>(thread / 32);
    const int left = num_valid - 32 * warp;
    typename WarpReduce<T>::TempStorage unused;
    T aggregate = WarpReduce<T>(unused).Reduce(input, reduction_op, left < 32 ? left : 32);
    if (thread % 32 == 0) storage_.warp_aggregates[warp] = aggregate;
    __syncthreads();
    if (thread == 0) {
      for (int w = 1; w < kWarps && 32 * w < num_valid; ++w) {
        aggregate = reduction_op(aggregate, storage_.warp_aggregates[w]);
      }
    }
    return aggregate;
  }

 private:
  TempStorage& storage_;
};

}  // namespace cub
