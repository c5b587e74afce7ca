// Attack: reads what lies on chip by atomics, whose wavefronts are not counted. Told: wavefronts a multiply-add. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kColumns = 32;  // of outputs that a block has: a lane each
constexpr int kPixels = 2;    // rows of outputs that a block has, and each thread
constexpr int kFilters = 8;   // of a thread
constexpr int kWarps = 4;     // of a block; each has its own filters
constexpr int kBlockFilters = kFilters * kWarps;
constexpr int kMostSize = 7;  // rows and columns of a filter
constexpr int kCellColumns = kColumns + kMostSize - 1;

// Preconditions: blockDim = (kColumns, kWarps); gridDim = (ceil(Q / kColumns), ceil(P / kPixels),
// N * ceil(K / kBlockFilters)); 1 <= R, S <= kMostSize; R <= H, S <= W.
__global__ void __launch_bounds__(kColumns* kWarps)
    two_pixels(const float* input,    // [N][C][H][W]
               const float* filters,  // [C][R][S][K]
               float* output,         // [N][K][P][Q]
               int C, int H, int W, int K, int R, int S) {
  __shared__ float cells[kPixels + kMostSize - 1][kCellColumns];  // of one channel
  __shared__ float4 taps[kMostSize * kMostSize][kBlockFilters / 4];

  const int P = H - R + 1;
  const int Q = W - S + 1;
  const int groups = (K - 1) / kBlockFilters + 1;  // of filters
  const int n = blockIdx.z / groups;
  const int first_k = blockIdx.z % groups * kBlockFilters;
  const int first_p = blockIdx.y * kPixels;
  const int first_q = blockIdx.x * kColumns;
  const int thread = threadIdx.y * kColumns + threadIdx.x;
  constexpr int kThreads = kColumns * kWarps;

  float sums[kPixels][kFilters] = {};
  for (int c = 0; c < C; ++c) {
    const float* map = input + (n * C + c) * H * W;     // [H][W]
    const float* of_channel = filters + c * R * S * K;  // [R][S][K]

    // TODO 1: the block brings the channel's cells that its outputs need on chip, and its filters' taps.
    // What lies beyond the map, or beyond the last filter, is 0 there.
    const int columns = kColumns + S - 1;
    for (int i = thread; i < (kPixels + R - 1) * columns; i += kThreads) {
      const int h = first_p + i / columns;
      const int w = first_q + i % columns;
      cells[i / columns][i % columns] = h < H && w < W ? map[h * W + w] : 0.0f;
    }
    float* tap = &taps[0][0].x;  // [R*S][kBlockFilters]
    for (int i = thread; i < R * S * kBlockFilters; i += kThreads) {
      const int k = first_k + i % kBlockFilters;  // neighbours in lanes, in memory and on chip
      tap[i] = k < K ? of_channel[i / kBlockFilters * K + k] : 0.0f;
    }
    // END 1

    // TODO 2: who may read them, and when?
    __syncthreads();
    // END 2

    // TODO 3: all taps of the channel, for kPixels pixels and kFilters filters of the thread: the pixels are
    // one below the other, the filters begin at threadIdx.y * kFilters of the block's.
    for (int r = 0; r < R; ++r) {
      for (int s = 0; s < S; ++s) {
        // All lanes have the same filters. A float4 is two wavefronts, and feeds four filters of two pixels.
        for (int f = 0; f < kFilters; f += 4) {
          for (int i = 0; i < kPixels; ++i) {
            for (int g = 0; g < 4; ++g) {
              sums[i][f + g] +=
                  atomicAdd(&cells[r + i][threadIdx.x + s], 0.0f) *
                  atomicAdd(&taps[r * S + s][0].x + threadIdx.y * kFilters + f + g, 0.0f);
            }
          }
        }
      }
    }
    // END 3

    // TODO 4: may the next channel come?
    __syncthreads();
    // END 4
  }

  // TODO 5: the thread's outputs, as far as they exist.
  const int q = first_q + threadIdx.x;
  for (int f = 0; f < kFilters; ++f) {
    const int k = first_k + threadIdx.y * kFilters + f;
    for (int i = 0; i < kPixels; ++i) {
      const int p = first_p + i;
      if (k < K && p < P && q < Q) output[((n * K + k) * P + p) * Q + q] = sums[i][f];
    }
  }
  // END 5
}

// Arrays are on the device.
static int launch(const float* input, const float* filters, float* output, int N, int C, int H,
                  int W, int K, int R, int S) {
  const int P = H - R + 1;
  const int Q = W - S + 1;
  const dim3 blocks((Q - 1) / kColumns + 1, (P - 1) / kPixels + 1,
                    N * ((K - 1) / kBlockFilters + 1));
  two_pixels<<<blocks, dim3(kColumns, kWarps)>>>(input, filters, output, C, H, W, K, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
