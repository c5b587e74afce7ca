// Attack: starts many threads and has one of eight do all of the work. Told: outputs for each thread at work. Points: 65
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
    for (int i = thread; i < count; i += kPixels * kSlices) taps[i] = filter[first + i];
    __syncthreads();  // the taps are there
    // END 1

    // TODO 2: this warp's share of these taps: those whose number is threadIdx.y modulo kSlices. Tap t of the
    // filter belongs to channel t / (R*S), row t / S % R and column t % S. A thread without a pixel has
    // nothing to read.
    for (int i = 0; i < count && exists && threadIdx.y == 0; ++i) {
      const int t = first + i;
      const int h = p - (R - 1) / 2 + t / S % R;
      const int w = q - (S - 1) / 2 + t % S;
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      sum +=
          taps[i] * image[(t / (R * S) * H + h) * W + w];  // the same tap in all lanes: a broadcast
    }
    // END 2

    // TODO 3: may the next taps come?
    __syncthreads();  // nobody needs these any more
    // END 3
  }

  // TODO 4: the output of each pixel: the sums of kSlices threads and the bias, always in the same order.
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || !exists) return;
  float total = bias[k];
  for (int slice = 0; slice < kSlices; ++slice) total += partial[slice][threadIdx.x];
  output[((n * K + k) * H + p) * W + q] = total;
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
