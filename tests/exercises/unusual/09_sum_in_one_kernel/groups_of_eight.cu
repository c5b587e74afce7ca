// The eight parts of an output are added by cooperative_groups::reduce, in groups of eight lanes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

namespace cg = cooperative_groups;
constexpr int kPixels = 32, kSlices = 8, kFetched = 512;

__global__ void groups(const float* input, const float* filters, const float* bias, float* output,
                       int N, int C, int H, int W, int K, int R, int S) {
  __shared__ float taps[kFetched];
  __shared__ float parts[kPixels][kSlices + 1];
  __shared__ float totals[kPixels];  // stored by one warp: whole sectors
  const cg::thread_block block = cg::this_thread_block();
  const int pixel = blockIdx.x * kPixels + threadIdx.x, k = blockIdx.y, all = C * R * S;
  const dim3 at(pixel % W, pixel / W % H, pixel / W / H);
  float sum = 0.0f;
  for (int first = 0; first < all; first += kFetched) {
    for (int i = block.thread_rank(); i < min(kFetched, all - first); i += block.size()) {
      taps[i] = filters[k * all + first + i];
    }
    block.sync();
    for (int i = threadIdx.y; i < min(kFetched, all - first) && pixel < N * H * W; i += kSlices) {
      const int t = first + i, h = int(at.y) - R / 2 + t / S % R, w = int(at.x) - S / 2 + t % S;
      if (h >= 0 && h < H && w >= 0 && w < W)
        sum += taps[i] * input[((at.z * C + t / (R * S)) * H + h) * W + w];
    }
    block.sync();
  }
  parts[threadIdx.x][threadIdx.y] = sum;
  block.sync();
  const auto eight = cg::tiled_partition<kSlices>(block);
  const float total =
      cg::reduce(eight, parts[eight.meta_group_rank()][eight.thread_rank()], cg::plus<float>());
  if (eight.thread_rank() == 0) totals[eight.meta_group_rank()] = total;
  block.sync();
  if (threadIdx.y == 0 && pixel < N * H * W)
    output[((at.z * K + k) * H + at.y) * W + at.x] = totals[threadIdx.x] + bias[k];
}

static int launch(const float* input, const float* filters, const float* bias, float* output, int N,
                  int C, int H, int W, int K, int R, int S) {
  groups<<<dim3((N * H * W - 1) / kPixels + 1, K), dim3(kPixels, kSlices)>>>(
      input, filters, bias, output, N, C, H, W, K, R, S);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
