// Lazy. Fails: a tap that was read serves two pixels
// One pixel a thread: a lane reads a tap on chip, and all others get it by a shuffle.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kCols = 32, kRows = 2, kGroups = 4, kF = 8;
__global__ void one_pixel(const float* input, const float* filters, float* output, int N, int C,
                          int H, int W, int K, int R, int S) {
  extern __shared__ float shared[];
  const int P = H - R + 1, Q = W - S + 1;
  const int tr = kRows + R - 1, tc = kCols + S - 1;
  float* cells = shared;
  float* taps = shared + tr * tc;
  const int across = (Q - 1) / kCols + 1, down = (P - 1) / kRows + 1;
  const int q0 = blockIdx.x % across * kCols, p0 = blockIdx.x / across % down * kRows,
            n = blockIdx.x / across / down;
  const int k0 = blockIdx.y * 32;
  const int lane = threadIdx.x, row = threadIdx.y % kRows, group = threadIdx.y / kRows;
  const int thread = threadIdx.y * 32 + lane, threads = 32 * kRows * kGroups;
  float sums[kF] = {};
  for (int c = 0; c < C; ++c) {
    __syncthreads();
    for (int i = thread; i < tr * tc; i += threads) {
      const int h = p0 + i / tc, w = q0 + i % tc;
      cells[i] = h < H && w < W ? input[((n * C + c) * H + h) * W + w] : 0;
    }
    for (int i = thread; i < R * S * 32; i += threads)
      taps[i] = k0 + i % 32 < K ? filters[(c * R * S + i / 32) * K + k0 + i % 32] : 0;
    __syncthreads();
    for (int t = 0; t < R * S; t += 4) {
      const int mine = t + lane / 8;
      const float own = mine < R * S ? taps[mine * 32 + group * 8 + lane % 8] : 0;
      for (int u = 0; u < 4 && t + u < R * S; ++u) {
        const float cell = cells[(row + (t + u) / S) * tc + lane + (t + u) % S];
#pragma unroll
        for (int f = 0; f < kF; ++f) sums[f] += cell * __shfl_sync(~0u, own, u * 8 + f);
      }
    }
  }
  const int p = p0 + row, q = q0 + lane;
  if (p >= P || q >= Q) return;
#pragma unroll
  for (int f = 0; f < kF; ++f) {
    const int kk = k0 + group * 8 + f;
    if (kk < K) output[((n * K + kk) * P + p) * Q + q] = sums[f];
  }
}

static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int S) {
  const int P = H - R + 1, Q = W - S + 1;
  const int blocks = ((Q - 1) / kCols + 1) * ((P - 1) / kRows + 1) * N;
  one_pixel<<<dim3(blocks, (K - 1) / 32 + 1), dim3(32, 8),
              ((kRows + R - 1) * (kCols + S - 1) + R * S * 32) * 4>>>(input, filters, output, N, C,
                                                                      H, W, K, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
