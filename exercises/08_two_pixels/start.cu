// Exercise 08: two pixels per thread, so that each tap read serves twice. The task: README.md beside this file.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[c][r][s][k] * input[n][c][p + r][q + s], without
//            padding: P = H - R + 1 and Q = W - S + 1. The filters have been transformed: k runs fastest.
// Must cost  at most 0.5 wavefronts of shared memory per multiply-add of a warp, the least that one
//            pixel per thread needs; each cell and each tap read from global memory once per block.
// Run        ./halo try 08
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
    (void)map[0];
    (void)of_channel[0];
    (void)cells[0][0];
    (void)taps[0][0].x;
    (void)thread;
    (void)kThreads;
    (void)first_p;
    (void)first_q;
    (void)first_k;
    // END 1

    // TODO 2: who may read them, and when?
    // END 2

    // TODO 3: all taps of the channel, for kPixels pixels and kFilters filters of the thread: the pixels are
    // one below the other, the filters begin at threadIdx.y * kFilters of the block's.
    (void)sums[0][0];
    // END 3

    // TODO 4: may the next channel come?
    // END 4
  }

  // TODO 5: the thread's outputs, as far as they exist.
  (void)P;
  (void)Q;
  (void)output;
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
