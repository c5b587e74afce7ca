// A cell is an optional pair, the larger of two a functor; the block's tile is read by cuda::std::span.
#include <cuda_runtime.h>

#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/utility>

#include "common/exercise/exercise.h"

using Cell = cuda::std::pair<float, int>;

struct Larger {
  __device__ cuda::std::optional<Cell> operator()(cuda::std::optional<Cell> best, Cell cell) const {
    return !best || cell.first > best->first ? cuda::std::optional<Cell>(cell) : best;
  }
};

struct Window {
  int H, W, P, Q, size, stride, padding;
};

__global__ void max_with_index(const float* input, float* maxima, int* indices, Window it) {
  extern __shared__ float memory[];
  const int rows = (blockDim.y - 1) * it.stride + it.size,
            columns = (blockDim.x - 1) * it.stride + it.size;
  const cuda::std::span<float> tile(memory, rows * columns);
  const int top = static_cast<int>(blockIdx.y * blockDim.y) * it.stride - it.padding;
  const int left = static_cast<int>(blockIdx.x * blockDim.x) * it.stride - it.padding;
  const auto exists = [&](int h, int w) { return h >= 0 && h < it.H && w >= 0 && w < it.W; };
  for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < rows * columns;
       k += blockDim.x * blockDim.y) {
    const int h = top + k / columns, w = left + k % columns;
    if (exists(h, w)) tile[k] = input[(blockIdx.z * it.H + h) * it.W + w];
  }
  __syncthreads();
  const int p = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= it.P || q >= it.Q) return;
  cuda::std::optional<Cell> best;
  for (int r = threadIdx.y * it.stride; r < static_cast<int>(threadIdx.y) * it.stride + it.size;
       ++r) {
    for (int c = threadIdx.x * it.stride; c < static_cast<int>(threadIdx.x) * it.stride + it.size;
         ++c) {
      if (!exists(top + r, left + c)) continue;
      best = Larger()(best, Cell(tile[r * columns + c], (top + r) * it.W + left + c));
    }
  }
  const int output = (blockIdx.z * it.P + p) * it.Q + q;
  maxima[output] = best->first;
  indices[output] = best->second;
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const dim3 threads(32, 8), blocks((Q - 1) / 32 + 1, (P - 1) / 8 + 1, planes);
  const size_t bytes = (7 * stride + size) * (31 * stride + size) * sizeof(float);
  max_with_index<<<blocks, threads, bytes>>>(input, maxima, indices,
                                             {H, W, P, Q, size, stride, padding});
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
