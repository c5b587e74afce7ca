// The kernels of collectives.cu: cooperative groups and CUB's reductions.
#pragma once

#include <vector>

namespace collectives {

// A kernel's output, `fields` numbers a thread, thread by thread of its only block. Empty if it failed.
using Table = std::vector<std::vector<double>>;

constexpr int kTileThreads = 80;  // two warps and a half

// Block of 4 x 2 x 6 threads, the fifth of 2 x 3 blocks. Each row: thread_rank, size, group_index (3),
// thread_index (3), dim_threads (3), rank in the grid, threads of the grid.
Table block_figures();

// For tiles of `size` (1 to 16) in a block of kTileThreads, or of 32 in a block of 64, with v = 100 + thread: thread_rank, size,
// meta_group_rank, meta_group_size, ballot(v % 3 == 0), any(v == 105), all(v < 164), shfl(v, 1),
// shfl_up(v, 1), shfl_down(v, 1), shfl_xor(v, 1), match_any(v / 2), the members of a struct after
// shfl(1), reduce of v: plus, less, greater; plus over 1.0f / v.
Table tile_figures(int size);
Table tile_figures_of_warps();

// Tiles of 4 in tiles of 16: thread_rank, meta_group_rank, meta_group_size, sum of v over the tile.
Table nested_figures();

// One warp and a half; lanes that 3 divides call coalesced_threads(), the others write -1:
// thread_rank, size, ballot(lane % 2), any(lane == 3), all(lane < 30), shfl of the lane from the last
// rank, shfl_up(lane, 1), shfl_down(lane, 1), sum of lanes, then of tiles of 4: rank, size, meta rank,
// meta size, smallest lane.
Table coalesced_figures();

// Sums of v over the block, tiles of 32 and of 8, by one function that takes any thread_group.
Table group_sums();

// Blocks of kTileThreads; v = 100 + thread. Of thread 0: Sum, Sum of the first 50, Reduce with the
// larger, the same of the first 33, Sum of 1.0f / v, Sum and smallest of (v, 2 v, 3 v); sum of a
// block of 5 x 2 x 3 threads.
Table block_reductions();

// Of each thread: cub::WarpReduce over 32 lanes (valid in lane 0), over 8, over the first 5 of 8.
Table warp_reductions();

// ---- planted bugs and their twins (the markers are in the source) ----
struct Case {
  const char* name;
  int (*run)();  // a CUDA error
};
const std::vector<Case>& cases();

}  // namespace collectives
