// The task of warpgroup.cu's last warpgroup: it stores.
#pragma once

#include <type_traits>

#include "common/convolve/warpgroup/block.cuh"

namespace halo::convolve {

template <int kPixels>
constexpr int kMostAtOnce = most_at_once(kPixels);
template <int kAtOnce, int kRows>
constexpr int kStoreAhead = store_ahead(kAtOnce, kRows);

__device__ inline void add_to(float& sum, float other) { sum += other; }
__device__ inline void add_to(float4& sum, const float4& other) {
  sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
}

// One warpgroup stores sums: a warp has whole rows, of a filter's outputs; a lane neighbours, as many as it can where those
// of a map are whole quads.
template <int kAtOnce, bool kFinishes, int kFilters, int kPixels, int kParts>
__device__ void store_sums(Shared<kFilters, kPixels>& shared, float* output, const float* bias,
                           bool relu, const LayerNumbers& layer, const WarpgroupTiles& tiles,
                           const Part<kParts>& part, int thread) {
  using Sums =
      std::conditional_t<kAtOnce == 4, float4, std::conditional_t<kAtOnce == 2, float2, float>>;
  constexpr int kOwn = kPixels / kWarpSize / kAtOnce;
  // Rows whose sums are read before one is stored.
  constexpr int kAhead = kStoreAhead<kAtOnce, kFilters / kParts>;
  const int lane = thread % kWarpSize;
  const unsigned map = tiles.map.value;
  int parity = 0;
  for (int tile = part.first_tile(); tile < tiles.count; tile += part.clusters()) {
    const int first = tile % tiles.groups * kFilters;
    const int rows = min(part.end(kFilters), layer.K - first);
    unsigned at[kOwn];  // cells of the output, in the first row
    bool exists[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int m = tile / tiles.groups * kPixels + (i * kWarpSize + lane) * kAtOnce;
      exists[i] = m < layer.N * tiles.map.value;
      at[i] = (m / tiles.map * layer.K + first) * map + m % tiles.map;
    }
    part.wait_for_all(&shared.summed, parity);
    parity ^= 1;
    for (int k = part.begin(kFilters) + thread / kWarpSize; k < rows; k += kAhead * kWarps) {
      Sums sums[kAhead][kOwn];
#pragma unroll
      for (int i = 0; i < kAhead * kOwn; ++i) {
        const float* const from = shared.sums[k + i / kOwn * kWarps];
        sums[i / kOwn][i % kOwn] = reinterpret_cast<const Sums*>(from)[i % kOwn * kWarpSize + lane];
      }
      if constexpr (kParts > 1) {
        const auto* const of_other =
            cooperative_groups::cluster_group::map_shared_rank(shared.sums, 1 - part.own);
#pragma unroll
        for (int i = 0; i < kAhead * kOwn; ++i) {
          const float* const from = of_other[k + i / kOwn * kWarps];
          add_to(sums[i / kOwn][i % kOwn],
                 reinterpret_cast<const Sums*>(from)[i % kOwn * kWarpSize + lane]);
        }
      }
      asm volatile("" ::: "memory");  // else nvcc reads each where it is stored
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const int own = k + j * kWarps;
        if constexpr (kFinishes) {
          const float more = bias != nullptr && own < rows ? bias[first + own] : 0.0f;
#pragma unroll
          for (int i = 0; i < kOwn * kAtOnce; ++i) {
            float& sum = reinterpret_cast<float*>(sums[j])[i];
            sum += more;
            sum = relu && sum < 0.0f ? 0.0f : sum;  // not fmaxf, which turns a NaN into 0
          }
        }
        float* const row = output + std::uint64_t{map} * own;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
          if (exists[i] && own < rows) *reinterpret_cast<Sums*>(row + at[i]) = sums[j][i];
        }
      }
    }
    __syncwarp();
    if (lane == 0) part.arrive_at_all(&shared.stored);
  }
}

}  // namespace halo::convolve
