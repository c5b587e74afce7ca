// CUB adds the parts in logical warps of eight; its temporary storage and the taps share a union.
#include <cuda_runtime.h>

#include <cub/warp/warp_reduce.cuh>

#include "common/exercise/exercise.h"

constexpr int kPixels = 32, kSlices = 8;
using Reduce = cub::WarpReduce<float, kSlices>;

__global__ void __launch_bounds__(kPixels* kSlices)
    by_cub(const float* input, const float* filters, const float* bias, float* output, int N, int C,
           int H, int W, int K, int R, int S) {
  constexpr int kFetched = 1024;
  __shared__ union Shared {
    float taps[kFetched];
    float parts[kPixels][kSlices + 1];
  } shared;
  __shared__ float totals[kPixels];  // stored by one warp: whole sectors
  __shared__ typename Reduce::TempStorage of_cub[kPixels];
  const int thread = threadIdx.x, lane = thread % 32, slice = thread / 32, k = blockIdx.y,
            all = C * R * S;
  const int pixel = blockIdx.x * kPixels + lane, q = pixel % W, p = pixel / W % H,
            n = pixel / W / H;
  float sum = 0.0f;
  for (int first = 0; first < all; first += kFetched) {
    for (int i = thread; i < min(kFetched, all - first); i += 256)
      shared.taps[i] = filters[k * all + first + i];
    __syncthreads();
    for (int i = slice; i < min(kFetched, all - first) && n < N; i += kSlices) {
      const int t = first + i, h = p - R / 2 + t / S % R, w = q - S / 2 + t % S;
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      sum = fmaf(shared.taps[i], __ldg(&input[((n * C + t / (R * S)) * H + h) * W + w]), sum);
    }
    __syncthreads();
  }
  shared.parts[lane][slice] = sum;
  __syncthreads();
  const float total =
      Reduce(of_cub[thread / kSlices]).Sum(shared.parts[thread / kSlices][thread % kSlices]);
  if (thread % kSlices == 0) totals[thread / kSlices] = total;
  __syncthreads();
  if (slice == 0 && n < N) output[((n * K + k) * H + p) * W + q] = totals[lane] + bias[k];
}

static int launch(const float* input, const float* filters, const float* bias, float* output, int N,
                  int C, int H, int W, int K, int R, int S) {
  by_cub<<<dim3((N * H * W - 1) / kPixels + 1, K), kPixels * kSlices>>>(
      input, filters, bias, output, N, C, H, W, K, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
