// Stage 08, step 7: from tiles of 16 x 16 cells to their frequencies, and back to outputs. The cells are real, so of the 16
// rows of frequencies 9 say all: row 16 - f is row f, conjugate and mirrored.
#pragma once

#include <cuda_runtime.h>

#include "stages/08_multi_channel_stride_fixed/fft.cuh"

namespace halo::multi_channel_stride_fixed {

// Two real columns are one complex column, and their frequencies come apart again:
//
//   a0 b0      a0 + i b0            A[f] = (Z[f] + conj Z[16 - f]) / 2
//   a1 b1  ->  a1 + i b1  -> Z ->
//   .. ..      .........            B[f] = (Z[f] - conj Z[16 - f]) / 2i
//
// Preconditions: gridDim.x = depth * row / 32; blockDim.x = kTransformThreads.
__global__ void __launch_bounds__(kTransformThreads)
    fourier_there(const float* input,  // [images][channels][H][W]
                  float2* spectra,     // [kFrequencies][depth][row]
                  const FourierTiles of) {
  __shared__ float2 columns[kRows][kSize][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int c = blockIdx.x % of.depth, tile = blockIdx.x / of.depth * kWarpSize + lane;
  const int n = tile / (of.down * of.across);
  float2 x[kSize];
  if (warp < kSize / 2) {
    const int h = tile / of.across % of.down * of.step_h - of.padding_h;
    const int w = tile % of.across * of.step_w - of.padding_w + 2 * warp;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const float* const cells = input + ((n * of.channels + c) * of.H + h + i) * of.W + w;
      const bool exists = n < of.images && c < of.channels && h + i >= 0 && h + i < of.H;
      x[i].x = exists && w >= 0 && w < of.W ? cells[0] : 0.0f;
      x[i].y = exists && w + 1 >= 0 && w + 1 < of.W ? cells[1] : 0.0f;
    }
    fft<-1>(x);
#pragma unroll
    for (int f = 0; f < kRows; ++f) {
      const float2 z = x[reversed(f)], mirrored = x[reversed((kSize - f) % kSize)];
      columns[f][2 * warp][lane] = {(z.x + mirrored.x) / 2, (z.y - mirrored.y) / 2};
      columns[f][2 * warp + 1][lane] = {(z.y + mirrored.y) / 2, (mirrored.x - z.x) / 2};
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kSize; ++i) x[i] = columns[warp][i][lane];
  fft<-1>(x);
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    const long long row = (warp * kSize + reversed(i)) * 1ll * of.depth + c;
    spectra[row * of.row + tile] = x[i];
  }
}

// The same backwards, to outputs. Preconditions: gridDim.x = K * row / 32; blockDim.x = kTransformThreads.
__global__ void __launch_bounds__(kTransformThreads)
    fourier_back(const float2* spectra,  // [kFrequencies][filters][row]
                 float* output,          // [N][K][P][Q]
                 const LayerNumbers layer, const FourierTiles of) {
  __shared__ float2 columns[kRows][kSize][kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int k = blockIdx.x % layer.K, tile = blockIdx.x / layer.K * kWarpSize + lane;
  const int n = tile / (of.down * of.across);
  float2 x[kSize];
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    x[i] = spectra[((warp * kSize + i) * 1ll * of.filters + k) * of.row + tile];
  }
  fft<1>(x);
#pragma unroll
  for (int i = 0; i < kSize; ++i) columns[warp][reversed(i)][lane] = x[i];
  __syncthreads();
  if (warp == kRows - 1 || n >= layer.N) return;
#pragma unroll
  for (int f = 0; f < kRows; ++f) {
    const float2 a = columns[f][2 * warp][lane], b = columns[f][2 * warp + 1][lane];
    x[f] = {a.x - b.y, a.y + b.x};
    if (f % (kSize / 2) != 0) x[kSize - f] = {a.x + b.y, b.x - a.y};
  }
  fft<1>(x);
  const int p = tile / of.across % of.down * of.step_h, q = tile % of.across * of.step_w + 2 * warp;
  const int end = min(of.step_w - 2 * warp, layer.Q - q);  // columns that exist
#pragma unroll
  for (int i = 0; i < kSize; ++i) {
    if (reversed(i) >= of.step_h || p + reversed(i) >= layer.P) continue;
    float* const to = output + ((n * layer.K + k) * layer.P + p + reversed(i)) * layer.Q + q;
    if (end > 0) to[0] = x[i].x / (kSize * kSize);
    if (end > 1) to[1] = x[i].y / (kSize * kSize);
  }
}

}  // namespace halo::multi_channel_stride_fixed
