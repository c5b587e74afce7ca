// Lazy. Fails: each cost is read once, those of the plan perhaps again
// The costs of a layer at a time are brought on chip by all; the first warp of a block adds and compares them for all.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kMostLayers = 64;
constexpr int kMostLayouts = 4;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    layouts(const float* cost, float* spent, int* layout, int N, int L, int A) {
  __shared__ float costs[kMostLayouts * kMostLayouts][kThreads];
  __shared__ float least[kMostLayouts][kThreads];
  __shared__ unsigned char from[kMostLayers][kThreads];
  const int own = threadIdx.x, n = blockIdx.x * kThreads + own;
  for (int l = 0; l < L; ++l) {
    for (int w = 0; w < (l == 0 ? A : A * A); ++w) {
      costs[w][own] = n < N ? cost[(l * A * A + w) * N + n] : 0.0f;
    }
    __syncthreads();
    for (int t = own; t < kThreads && own < 32; t += 32) {
      float next[kMostLayouts];
      int ways = 0;
      for (int b = 0; b < A; ++b) {
        next[b] = INFINITY;
        for (int a = 0; a < (l == 0 ? 1 : A); ++a) {
          const float way = (l == 0 ? 0.0f : least[a][t]) + costs[a * A + b][t];
          if (way < next[b]) {
            next[b] = way;
            ways = (ways & ~(3 << 2 * b)) | a << 2 * b;
          }
        }
      }
      for (int b = 0; b < A; ++b) least[b][t] = next[b];
      from[l][t] = ways;
    }
    __syncthreads();
  }
  for (int t = own; t < kThreads && own < 32; t += 32) {
    int b = 0;
    for (int a = 1; a < A; ++a) {
      if (least[a][t] < least[b][t]) b = a;
    }
    for (int l = L - 1; l >= 0; --l) {
      const int before = from[l][t] >> 2 * b & 3;
      from[l][t] = b;
      b = before;
    }
  }
  __syncthreads();
  if (n >= N) return;
  float sum = 0.0f;
  for (int l = 0, a = 0; l < L; ++l) {
    const int b = from[l][own];
    sum += cost[((l * A + a) * A + b) * N + n];
    layout[l * N + n] = b;
    spent[l * N + n] = sum;
    a = b;
  }
}

static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  layouts<<<(N - 1) / kThreads + 1, kThreads>>>(cost, spent, layout, N, L, A);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
