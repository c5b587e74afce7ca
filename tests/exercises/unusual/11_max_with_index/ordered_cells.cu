// Cells with an order of their own (<=>), a class with operators, a kernel that is a function of a template's policy.
#include <cuda_runtime.h>

#include <compare>
#include <cuda/std/limits>
#include <cuda/std/utility>

#include "common/exercise/exercise.h"

struct Cell {
  float value;
  int index;
  // A larger value first; of equal ones the first.
  __device__ constexpr bool operator<(const Cell& other) const {
    return value < other.value || (value == other.value && index > other.index);
  }
  __device__ constexpr Cell& operator|=(const Cell& other) {
    if (*this < other) *this = other;
    return *this;
  }
};

struct Window {
  int H, W, P, Q, size, stride, padding;
  __host__ __device__ constexpr int reach(int count) const { return (count - 1) * stride + size; }
};

template <int kRows_, int kColumns_>
struct Policy {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kThreads = kRows * kColumns;
};

template <class Policy>
__global__ void __launch_bounds__(Policy::kThreads)
    pooled(const float* __restrict__ input, float* __restrict__ maxima, int* __restrict__ indices,
           const Window window) {
  extern __shared__ unsigned char memory[];
  float* const tile = reinterpret_cast<float*>(memory);
  const auto [H, W, P, Q, size, stride, padding] = window;
  const int rows = window.reach(Policy::kRows), columns = window.reach(Policy::kColumns);
  const int first_h = int(blockIdx.y) * Policy::kRows * stride - padding;
  const int first_w = int(blockIdx.x) * Policy::kColumns * stride - padding;
  const float* const plane = input + blockIdx.z * H * W;
  for (int i = threadIdx.y; i < rows; i += Policy::kRows) {
    for (int k = threadIdx.x; k < columns; k += Policy::kColumns) {
      const int h = first_h + i, w = first_w + k;
      const bool exists = 0 <= h && h < H && 0 <= w && w < W;
      tile[i * columns + k] =
          exists ? plane[h * W + w] : -cuda::std::numeric_limits<float>::infinity();
    }
  }
  __syncthreads();
  const int p = blockIdx.y * Policy::kRows + threadIdx.y;
  const int q = blockIdx.x * Policy::kColumns + threadIdx.x;
  if (p >= P || q >= Q) return;
  const int top = threadIdx.y * stride, left = threadIdx.x * stride;
  Cell best{-cuda::std::numeric_limits<float>::infinity(), cuda::std::numeric_limits<int>::max()};
  for (int r = top; r < top + size; ++r) {
    for (int c = left; c < left + size; ++c) {
      const int h = first_h + r, w = first_w + c;
      if (h >= 0 && h < H && w >= 0 && w < W) best |= Cell{tile[r * columns + c], h * W + w};
    }
  }
  const int at = (blockIdx.z * P + p) * Q + q;
  maxima[at] = best.value;
  indices[at] = best.index;
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  using Tile = Policy<16, 32>;
  const Window window{H,
                      W,
                      (H + 2 * padding - size) / stride + 1,
                      (W + 2 * padding - size) / stride + 1,
                      size,
                      stride,
                      padding};
  const dim3 blocks((window.Q + Tile::kColumns - 1) / Tile::kColumns,
                    (window.P + Tile::kRows - 1) / Tile::kRows, planes);
  const size_t bytes = sizeof(float) * window.reach(Tile::kRows) * window.reach(Tile::kColumns);
  cudaFuncSetAttribute(pooled<Tile>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  pooled<Tile><<<blocks, {Tile::kColumns, Tile::kRows}, bytes>>>(input, maxima, indices, window);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
