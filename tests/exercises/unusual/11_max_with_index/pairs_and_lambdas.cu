// A pair of value and index with an order of its own, folded by a range of lambdas; blocks that stay take tiles from
// all planes, and copy them asynchronously.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cuda/std/utility>

#include "common/exercise/exercise.h"

namespace cg = cooperative_groups;
using Found = cuda::std::pair<float, int>;

__global__ void pairs(const float* input, float* maxima, int* indices, int planes, int H, int W,
                      int P, int Q, int size, int stride, int padding) {
  extern __shared__ float tile[];
  const auto block = cg::this_thread_block();
  const int rows = (blockDim.y - 1) * stride + size, columns = (blockDim.x - 1) * stride + size;
  const int across = (Q - 1) / blockDim.x + 1, down = (P - 1) / blockDim.y + 1;
  for (int item = blockIdx.x; item < across * down * planes; item += gridDim.x) {
    const int plane = item / across / down, p0 = item / across % down * blockDim.y,
              q0 = item % across * blockDim.x;
    const int h0 = p0 * stride - padding, w0 = q0 * stride - padding;
    const auto exists = [&](int h, int w) { return h >= 0 && h < H && w >= 0 && w < W; };
    for (int r = threadIdx.y; r < rows; r += blockDim.y) {
      for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        if (!exists(h0 + r, w0 + c)) continue;
        __pipeline_memcpy_async(&tile[r * columns + c], &input[(plane * H + h0 + r) * W + w0 + c],
                                sizeof(float));
      }
    }
    __pipeline_commit();
    __pipeline_wait_prior(0);
    block.sync();
    const int p = p0 + threadIdx.y, q = q0 + threadIdx.x;
    if (p < P && q < Q) {
      Found best = {0.0f, -1};
      const auto take = [&best](Found other) {
        if (best.second < 0 || other.first > best.first) best = other;
      };
      for (int i = 0; i < size * size; ++i) {
        const int r = threadIdx.y * stride + i / size, c = threadIdx.x * stride + i % size;
        if (exists(h0 + r, w0 + c)) take({tile[r * columns + c], (h0 + r) * W + w0 + c});
      }
      maxima[(plane * P + p) * Q + q] = best.first;
      indices[(plane * P + p) * Q + q] = best.second;
    }
    block.sync();
  }
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const dim3 threads(32, 8);
  const int items = planes * ((Q - 1) / 32 + 1) * ((P - 1) / 8 + 1);
  const size_t bytes = (7 * stride + size) * (31 * stride + size) * sizeof(float);
  pairs<<<std::min(items, 40), threads, bytes>>>(input, maxima, indices, planes, H, W, P, Q, size,
                                                 stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
