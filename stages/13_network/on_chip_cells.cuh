// The maps of 4_on_chip.cu in shared memory: how their cells get there, and from block to block.
//
//   a map    channel 0 | channel 1 | ...            a channel    . . . . . .   its frame: the zeros that the next layer
//            filled up to quads                                  . h h h h .   reads around it, `above` rows and `left`
//                                                                . h h h h .   columns of them; rows are `pitch` apart,
//                                                                . . . . . .   channels a `plane`
//
//   Of a layer with several blocks each block computes the channels of one share, and has got those of the others when
//   the layer's barrier is full.
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cuda/ptx>

#include "stages/13_network/on_chip.hpp"

namespace halo::network {

namespace ptx = cuda::ptx;

__device__ inline int channels_of(const OnChipStep& step, int rank) {
  return max(min(step.share, step.K - rank * step.share), 0);
}

// Calls use(i, c, h, w) for the i-th float of so many channels of a map: rows and columns of its frame are below 0, or
// from the map's own numbers on; with what fills up a quad, c may be `channels`.
template <class Use>
__device__ void for_each_cell(const OnChipMap& map, int channels, Use use) {
  const int end = (channels * map.plane.value + 3) / 4 * 4;
#pragma unroll 1  // it hardly ever has a second turn, and four turns' code would push other layers' out of the cache
  for (int i = threadIdx.x; i < end; i += kOnChipThreads) {
    const int c = i / map.plane, in_plane = i - c * map.plane.value;
    const int row = in_plane / map.pitch;
    use(i, c, row - map.above, in_plane - row * map.pitch.value - map.left);
  }
}

// An image to the first layer's map, with zeros around it.
__device__ inline void fetch(const float* image,  // [C][H][W]
                             const OnChip& net, float* cells) {
  float* const map = cells + net.input.begin;
  for_each_cell(net.input, net.C, [&](int i, int c, int h, int w) {
    if (c < net.C && h >= 0 && h < net.H && w >= 0 && w < net.W) {
      __pipeline_memcpy_async(map + i, image + (c * net.H + h) * net.W + w, sizeof(float));
    } else {
      map[i] = 0.0f;
    }
  });
}

// Zeros that fill up the last quad of single outputs: one lane each, one float after the other.
__device__ inline void fill_up(const OnChip& net, float* cells) {
  if (threadIdx.x >= net.count) return;
  const OnChipStep& step = net.step[threadIdx.x];
  if (step.size != 0) return;
  for (int k = step.K; k % 4 != 0; ++k) cells[step.to.begin + k] = 0.0f;
}

// A barrier for each step that is complete when this block has got all that it is sent: of a map the channels of other
// blocks, of single outputs all of them, since each block sends itself its own too. By the last warp, a lane per step.
__device__ inline void expect_cells(const OnChip& net, int rank,
                                    std::uint64_t* full) {  // [kOnChipSteps]
  const int i = static_cast<int>(threadIdx.x) - (kOnChipThreads - kWarpSize);
  if (i < 0 || i >= net.count) return;
  const OnChipStep& step = net.step[i];
  const auto quads_of = [&](int channels) { return (channels * step.to.plane.value + 3) / 4; };
  const int floats =
      step.size == 0 ? step.K : 4 * (quads_of(step.K) - quads_of(channels_of(step, rank)));
  ptx::mbarrier_init(full + i, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + i,
                                 floats * sizeof(float));
}

// The block's channels of a map, including frames, to the same place in all other blocks: one warp
// per block. (A thread that stored its cells in all of them had up to fifteen stores in turn.)
template <int kBlocks>
__device__ void hand_over(float* own, int floats, int rank, std::uint64_t* full) {
  const auto cluster = cooperative_groups::this_cluster();
  const int lane = threadIdx.x % kWarpSize;
  constexpr int kWarps = kOnChipThreads / kWarpSize;
  for (int other = 1 + threadIdx.x / kWarpSize; other < kBlocks; other += kWarps) {
    float* const there = cluster.map_shared_rank(own, (rank + other) % kBlocks);
    std::uint64_t* const there_full = cluster.map_shared_rank(full, (rank + other) % kBlocks);
#pragma unroll 1
    for (int i = 4 * lane; i < floats; i += 4 * kWarpSize) {
      const float4 four = *reinterpret_cast<const float4*>(own + i);
      ptx::st_async(there + i, {four.x, four.y, four.z, four.w}, there_full);
    }
  }
}

}  // namespace halo::network
