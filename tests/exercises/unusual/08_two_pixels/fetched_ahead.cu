// The next channel's cells and taps are on their way (cp.async) while this one's are used; shared memory is a struct.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kLanes = 32, kWarps = 4, kPixels = 2, kEach = 8, kFilters = kEach * kWarps, kMost = 7;

struct Stage {
  float cells[kPixels + kMost - 1][kLanes + kMost - 1];
  float4 taps[kMost * kMost][kFilters / 4];
};

__global__ void __launch_bounds__(kLanes* kWarps)
    ahead(const float* input, const float* filters, float* output, int C, int H, int W, int K,
          int R, int S) {
  __shared__ Stage stages[2];
  const int P = H - R + 1, Q = W - S + 1, groups = (K - 1) / kFilters + 1;
  const int n = blockIdx.z / groups, k0 = blockIdx.z % groups * kFilters;
  const int p0 = blockIdx.y * kPixels, q0 = blockIdx.x * kLanes,
            thread = threadIdx.y * kLanes + threadIdx.x;
  const auto bring = [](float& to, const float* from, bool exists) {
    if (exists) {
      __pipeline_memcpy_async(&to, from, sizeof(float));
    } else {
      to = 0.0f;
    }
  };
  const auto fetch = [&](int c) {
    Stage& stage = stages[c % 2];
    const int columns = kLanes + S - 1;
    for (int i = thread; i < (kPixels + R - 1) * columns; i += kLanes * kWarps) {
      const int h = p0 + i / columns, w = q0 + i % columns;
      bring(stage.cells[i / columns][i % columns], input + ((n * C + c) * H + h) * W + w,
            h < H && w < W);
    }
    for (int i = thread; i < R * S * kFilters; i += kLanes * kWarps) {
      const int k = k0 + i % kFilters;
      bring((&stage.taps[0][0].x)[i], filters + (c * R * S + i / kFilters) * K + k, k < K);
    }
    __pipeline_commit();
  };
  float sums[kPixels][kEach] = {};
  fetch(0);
  for (int c = 0; c < C; ++c) {
    if (c + 1 < C) fetch(c + 1);
    __pipeline_wait_prior(c + 1 < C ? 1 : 0);
    __syncthreads();
    const Stage& stage = stages[c % 2];
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        const float pixels[kPixels] = {stage.cells[r][threadIdx.x + s],
                                       stage.cells[r + 1][threadIdx.x + s]};
        for (int f = 0; f < kEach; f += 4) {
          const float4 four = stage.taps[r * S + s][(threadIdx.y * kEach + f) / 4];
          const float taps[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
          for (int i = 0; i < kPixels * 4; ++i)
            sums[i / 4][f + i % 4] += pixels[i / 4] * taps[i % 4];
        }
      }
    }
    __syncthreads();
  }
  const int q = q0 + threadIdx.x;
  for (int i = 0; i < kPixels * kEach; ++i) {
    const int p = p0 + i / kEach, k = k0 + threadIdx.y * kEach + i % kEach;
    if (k < K && p < P && q < Q) output[((n * K + k) * P + p) * Q + q] = sums[i / kEach][i % kEach];
  }
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int S) {
  const dim3 blocks((W - S) / kLanes + 1, (H - R) / kPixels + 1, N * ((K - 1) / kFilters + 1));
  ahead<<<blocks, dim3(kLanes, kWarps)>>>(input, filters, output, C, H, W, K, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
