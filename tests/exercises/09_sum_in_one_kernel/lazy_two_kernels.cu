// Lazy. Fails: one launch, which stores the outputs and nothing else
// The sums of the slices are stored, and a second kernel adds them.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kPixels = 32;     // of a block, over all images; the lanes of each warp
constexpr int kSlices = 8;      // warps of a block, which share the taps of its filter
constexpr int kFetched = 1024;  // taps on chip at a time

__device__ float partial[kSlices << 16];  // [kSlices][outputs]

__global__ void add(const float* bias, float* output, int outputs, int K, int map) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float total = bias[i / map % K];
  for (int slice = 0; slice < kSlices; ++slice) total += partial[slice * outputs + i];
  output[i] = total;
}

// Preconditions: blockDim = (kPixels, kSlices); gridDim = ((N*H*W - 1) / kPixels + 1, K); R and S are odd.
__global__ void __launch_bounds__(kPixels* kSlices)
    sum_in_one_kernel(const float* input,    // [N][C][H][W]
                      const float* filters,  // [K][C][R][S]
                      const float* bias,     // [K]
                      float* output,         // [N][K][H][W]
                      int N, int C, int H, int W, int K, int R, int S) {
  __shared__ float taps[kFetched];

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
    for (int i = thread; i < count; i += kPixels * kSlices) taps[i] = filter[first + i];
    __syncthreads();  // the taps are there

    for (int i = threadIdx.y; i < count && exists; i += kSlices) {
      const int t = first + i;
      const int h = p - (R - 1) / 2 + t / S % R;
      const int w = q - (S - 1) / 2 + t % S;
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      sum +=
          taps[i] * image[(t / (R * S) * H + h) * W + w];  // the same tap in all lanes: a broadcast
    }

    __syncthreads();  // nobody needs these any more
  }

  if (exists) partial[threadIdx.y * N * K * H * W + ((n * K + k) * H + p) * W + q] = sum;
}

// Arrays are on the device.
static int launch(const float* input, const float* filters, const float* bias, float* output, int N,
                  int C, int H, int W, int K, int R, int S) {
  const dim3 blocks((N * H * W - 1) / kPixels + 1, K);
  sum_in_one_kernel<<<blocks, dim3(kPixels, kSlices)>>>(input, filters, bias, output, N, C, H, W, K,
                                                        R, S);
  const int outputs = N * K * H * W;
  add<<<(outputs - 1) / 256 + 1, 256>>>(bias, output, outputs, K, H * W);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
