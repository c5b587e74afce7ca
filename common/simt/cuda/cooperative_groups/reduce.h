// Stands in for NVIDIA's <cooperative_groups/reduce.h>: reductions over a tile or over coalesced
// threads, added up in the order of NVIDIA's header.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <typename T>
struct plus {
  SIMT_INLINE T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {  // the smaller one
  SIMT_INLINE T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {  // the larger one
  SIMT_INLINE T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_and {
  SIMT_INLINE T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
  SIMT_INLINE T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
  SIMT_INLINE T operator()(T a, T b) const { return a ^ b; }
};

// Every thread of the group gets the result.
template <unsigned int Size, typename Parent, typename T, typename Operation>
SIMT_INLINE T reduce(const thread_block_tile<Size, Parent>& group, T value, Operation operation) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2) {
    value = operation(value, group.shfl_xor(value, distance));
  }
  return value;
}

template <typename T, typename Operation>
SIMT_INLINE T reduce(const coalesced_group& group, T value, Operation operation) {
  const unsigned int size = group.size(), rank = group.thread_rank();
  if (size == 32) {
    return reduce(tiled_partition<32>(this_thread_block()), value, operation);
  }
  // A running sum, of which the last member holds the whole.
  for (unsigned int distance = 1; distance < size; distance *= 2) {
    const T other = group.shfl_up(value, static_cast<int>(distance));
    if (rank >= distance) value = operation(value, other);
  }
  return group.shfl(value, static_cast<int>(size - 1));
}

template <typename T, typename Operation>
T reduce(const thread_block&, T, Operation) {
  static_assert(
      sizeof(T) == 0,
      "reduce takes a tile or coalesced threads: divide the block with tiled_partition<32> "
      "and combine the tiles' results in shared memory");
}

#define SIMT_NO_ASYNC_REDUCE "call reduce and let the thread of rank 0 store the result"
SIMT_OUTSIDE(int, reduce_update_async, SIMT_NO_ASYNC_REDUCE)
SIMT_OUTSIDE(int, reduce_store_async, SIMT_NO_ASYNC_REDUCE)
#undef SIMT_NO_ASYNC_REDUCE

}  // namespace cooperative_groups
