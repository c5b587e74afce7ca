// Exercise 09: taps divided over threads, and their sum in the same kernel. The task: README.md beside this file.
//
// Computes   output[n][k][p][q] = bias[k] + sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - (R - 1) / 2 + r][q - (S - 1) / 2 + s]; cells that do not exist are zero.
// Must cost  one launch; nothing stored but the outputs; each tap fetched once per block; four threads or
//            more for each output, so that small maps fill the GPU; no atomics: the same bits in every run.
// Run        ./halo try 09
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kPixels = 32;     // of a block, over all images; the lanes of each warp
constexpr int kSlices = 8;      // warps of a block, which share the taps of its filter
constexpr int kFetched = 1024;  // taps on chip at a time

// Preconditions: blockDim = (kPixels, kSlices); gridDim = ((N*H*W - 1) / kPixels + 1, K); R and S are odd.
__global__ void __launch_bounds__(kPixels* kSlices)
    sum_in_one_kernel(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][S]
                      const float* bias,     // [K]
                      float* output,         // [N][K][H][W]
                      int N, int C, int H, int W, int K, int R, int S) {
  __shared__ float taps[kFetched];
  __shared__ float partial[kSlices][kPixels];

  const int thread = threadIdx.y * kPixels + threadIdx.x;
  const int pixel = blockIdx.x * kPixels + threadIdx.x;
  const int k = blockIdx.y;
  const bool exists = pixel < N * H * W;
  const int q = pixel % W;
  const int p = pixel / W % H;
  const int n = pixel / W / H;
  const float* filter = filters + k * C * R * S;  // [C][R][S], one run
  const float* image = input + n * C * H * W;     // [C][H][W]
  const int all_taps = C * R * S;

  float sum = 0.0f;
  for (int first = 0; first < all_taps; first += kFetched) {
    const int count = min(kFetched, all_taps - first);
    // TODO 1: the block's threads bring taps first ... first + count - 1 of the filter on chip.
    // In cuConv a tap's row lies R*S floats apart. All rows of a filter together are one run of memory.
    (void)thread;
    (void)count;
    (void)filter[0];
    (void)taps[0];
    // END 1

    // TODO 2: this warp's share of these taps: those whose number is threadIdx.y modulo kSlices. Tap t of the
    // filter belongs to channel t / (R*S), row t / S % R and column t % S. A thread without a pixel has
    // nothing to read.
    (void)image[0];
    (void)exists;
    (void)p;
    (void)q;
    (void)n;
    // END 2

    // TODO 3: may the next taps come?
    // END 3
  }

  // TODO 4: the output of each pixel: the sums of kSlices threads and the bias, always in the same order.
  partial[threadIdx.y][threadIdx.x] = sum;
  (void)partial[0][0];
  (void)bias;
  (void)output;
  // END 4
}

// Arrays are on the device.
static int launch(const float* input, const float* filters, const float* bias, float* output, int N,
                  int C, int H, int W, int K, int R, int S) {
  const dim3 blocks((N * H * W - 1) / kPixels + 1, K);
  sum_in_one_kernel<<<blocks, dim3(kPixels, kSlices)>>>(input, filters, bias, output, N, C, H, W, K,
                                                        R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
