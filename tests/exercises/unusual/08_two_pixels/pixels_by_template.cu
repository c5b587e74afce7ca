// How many pixels and filters a thread has are template arguments; cooperative groups, blocks that stay, and as many
// pixels below each other as the map has rows.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

#include "common/exercise/exercise.h"

namespace cg = cooperative_groups;

template <int kPixels, int kEach, int kWarps>
__global__ void __launch_bounds__(32 * kWarps)
    pixels(const float* __restrict__ input, const float* __restrict__ filters,
           float* __restrict__ output, int N, int C, int H, int W, int K, int R, int S) {
  constexpr int kFilters = kEach * kWarps;
  __shared__ float cells[(kPixels + 6) * 38];
  __shared__ alignas(16) float taps[49 * kFilters];
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int lane = warp.thread_rank(), own = warp.meta_group_rank() * kEach;
  const int P = H - R + 1, Q = W - S + 1, columns = 31 + S;
  const int across = (Q - 1) / 32 + 1, down = (P - 1) / kPixels + 1,
            groups = (K - 1) / kFilters + 1;
  for (int item = blockIdx.x; item < across * down * groups * N; item += gridDim.x) {
    const int q0 = item % across * 32, p0 = item / across % down * kPixels;
    const int k0 = item / across / down % groups * kFilters, n = item / across / down / groups;
    float sums[kPixels][kEach] = {};
    for (int c = 0; c < C; ++c) {
      for (int i = block.thread_rank(); i < (kPixels + R - 1) * columns; i += block.size()) {
        const int h = p0 + i / columns, w = q0 + i % columns;
        cells[i] = h < H && w < W ? input[((n * C + c) * H + h) * W + w] : 0.0f;
      }
      for (int i = block.thread_rank(); i < R * S * kFilters; i += block.size()) {
        const int k = k0 + i % kFilters;
        taps[i] = k < K ? filters[(c * R * S + i / kFilters) * K + k] : 0.0f;
      }
      block.sync();
      for (int t = 0; t < R * S; ++t) {
        float mine[kPixels];
        for (int i = 0; i < kPixels; ++i) mine[i] = cells[(t / S + i) * columns + lane + t % S];
        for (int f = 0; f < kEach; f += 4) {
          const float4 four = reinterpret_cast<const float4*>(&taps[t * kFilters + own])[f / 4];
          for (int i = 0; i < kPixels; ++i) {
            sums[i][f] = fmaf(mine[i], four.x, sums[i][f]);
            sums[i][f + 1] = fmaf(mine[i], four.y, sums[i][f + 1]);
            sums[i][f + 2] = fmaf(mine[i], four.z, sums[i][f + 2]);
            sums[i][f + 3] = fmaf(mine[i], four.w, sums[i][f + 3]);
          }
        }
      }
      block.sync();
    }
    for (int i = 0; i < kPixels; ++i) {
      for (int f = 0; f < kEach; ++f) {
        const int p = p0 + i, q = q0 + lane, k = k0 + own + f;
        if (k < K && p < P && q < Q) output[((n * K + k) * P + p) * Q + q] = sums[i][f];
      }
    }
  }
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int S) {
  const auto go = [&](auto kernel, int at_once, int of_block, int warps) {
    const int items = N * ((W - S) / 32 + 1) * ((H - R) / at_once + 1) * ((K - 1) / of_block + 1);
    kernel<<<std::min(items, 264), 32 * warps>>>(input, filters, output, N, C, H, W, K, R, S);
    return static_cast<int>(cudaGetLastError());
  };
  return H - R >= 3 ? go(pixels<4, 8, 4>, 4, 32, 4) : go(pixels<2, 16, 2>, 2, 32, 2);
}

halo::Exercise halo::exercise() { return launch; }
