// Stands in for CUB's <cub/cub.cuh>: of its collectives the simulator has the reductions over a block
// and over a warp. The headers of the others say so when they are included.
#pragma once

#include "block/block_reduce.cuh"
#include "warp/warp_reduce.cuh"

namespace cub {

#define SIMT_OUTSIDE_CUB(name)                                                                     \
  template <typename T, auto... Parameters>                                                        \
  class name {                                                                                     \
    static_assert(sizeof(T) == 0,                                                                  \
                  "cub::" #name                                                                    \
                  " is outside the simulator's subset: of CUB it has BlockReduce and WarpReduce"); \
  };
SIMT_OUTSIDE_CUB(BlockScan)
SIMT_OUTSIDE_CUB(BlockLoad)
SIMT_OUTSIDE_CUB(BlockStore)
SIMT_OUTSIDE_CUB(BlockExchange)
SIMT_OUTSIDE_CUB(BlockRadixSort)
SIMT_OUTSIDE_CUB(WarpScan)
#undef SIMT_OUTSIDE_CUB

}  // namespace cub
