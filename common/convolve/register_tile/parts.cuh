// How the sums of register_tile.cu leave, where the blocks of a cluster share a tile, each with a part of the segments: each
// block adds up some rows of it, and is sent them from registers by all, as soon as they have them. Nobody reads what is in
// another block: it would be two waits for the whole cluster, one for its sums and one to leave, and a read that goes there
// and back.
#pragma once

#include "common/convolve/cluster.cuh"
#include "common/convolve/register_tile/shape.cuh"

namespace halo::convolve {

// Before the first segment. The arrival says that the block has begun and its barrier is there, and no more: if it also
// published what was written before, it would hold the block up.
template <class T>
__device__ inline void expect_parts(std::uint64_t* full, int part, const TileDivisors& by) {
  const int parts = by.parts.value;
  if (threadIdx.x == 0) {
    const int rows = T::kFilters * (part + 1) / by.parts - T::kFilters * part / by.parts;
    expect(full, sizeof(float) * rows * parts * T::kPixels);
  }
  __cluster_barrier_arrive_relaxed();
}

// After the last segment.
template <class T>
__device__ inline void send_and_add(const typename T::Sums& sums,
                                    float* of_parts,  // [rows][parts][kPixels]
                                    std::uint64_t* full, int part, const TileOutputs& to,
                                    int own_filter, int own_pixel) {
  const auto cluster = cooperative_groups::this_cluster();
  const int parts = to.by.parts.value;
  cluster.barrier_wait();  // all have begun: their shared memory is there
#pragma unroll
  for (int i = 0; i < T::kSumFilters; ++i) {
    const int row = T::filter(own_filter, i);
    const int owner = ((row + 1) * parts - 1) / T::kFilters;
    const int its_row = row - T::kFilters * owner / to.by.parts;
    float* const there = cluster.map_shared_rank(of_parts, owner) +
                         (its_row * parts + part) * T::kPixels + own_pixel;
    std::uint64_t* const its_barrier = cluster.map_shared_rank(full, owner);
#pragma unroll
    for (int j = 0; j < T::kSumPixels; j += 4) {
      ptx::st_async(there + j * T::kColumns,
                    {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]}, its_barrier);
    }
  }
  wait_for_all(full);
  const int map = to.layer.P * to.layer.Q;
  const int column = threadIdx.x % T::kPixels;
  const int pixel = to.first_pixel + column;
  if (pixel >= to.layer.N * map) return;
  const int first = T::kFilters * part / to.by.parts;
  const int end = min(T::kFilters * (part + 1) / to.by.parts, to.layer.K - to.first_filter) - first;
  float* maps =
      to.output + (pixel / to.by.map * (to.layer.K - 1) + to.first_filter + first) * map + pixel;
#pragma unroll 4
  for (int row = threadIdx.x / T::kPixels; row < end; row += T::kThreads / T::kPixels) {
    float sum = 0;
#pragma unroll  // always in the same order
    for (int i = 0; i < kMostParts; ++i) {
      if (i < parts) sum += of_parts[(row * parts + i) * T::kPixels + column];
    }
    maps[row * map] = to.positive(sum);
  }
}

}  // namespace halo::convolve
