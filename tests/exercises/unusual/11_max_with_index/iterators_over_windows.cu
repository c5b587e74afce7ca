// Windows as ranges with iterators, over a tile of which each cell knows where it lies; keys that compare.
#include <cuda_runtime.h>

#include <cmath>

#include "common/exercise/exercise.h"

constexpr dim3 kBlock(32, 8);

struct Window {
  const float* tile;
  int pitch, top, left, bottom, right;
  struct At {
    const Window* its;
    int r, c;
    __device__ float operator*() const { return its->tile[r * its->pitch + c]; }
    __device__ At& operator++() {
      if (++c == its->right) c = its->left, ++r;
      return *this;
    }
    __device__ bool operator!=(const At& other) const { return r != other.r; }
  };
  __device__ At begin() const { return {this, top, left}; }
  __device__ At end() const { return {this, bottom, left}; }
};

__global__ void largest(const float* input, float* maxima, int* indices, int H, int W, int P, int Q,
                        int size, int stride, int padding) {
  extern __shared__ float tile[];
  const int rows = (kBlock.y - 1) * stride + size, columns = (kBlock.x - 1) * stride + size;
  const float* const plane = input + blockIdx.z * H * W;
  const int h0 = static_cast<int>(blockIdx.y * kBlock.y) * stride - padding;
  const int w0 = static_cast<int>(blockIdx.x * kBlock.x) * stride - padding;
  for (int r = threadIdx.y; r < rows; r += kBlock.y) {
    for (int c = threadIdx.x; c < columns; c += kBlock.x) {
      const bool exists = h0 + r >= 0 && h0 + r < H && w0 + c >= 0 && w0 + c < W;
      if (exists) tile[r * columns + c] = plane[(h0 + r) * W + w0 + c];
    }
  }
  __syncthreads();
  const int p = blockIdx.y * kBlock.y + threadIdx.y, q = blockIdx.x * kBlock.x + threadIdx.x;
  if (p >= P || q >= Q) return;
  const int r = threadIdx.y * stride, c = threadIdx.x * stride;
  const Window window{
      tile, columns, max(r, -h0), max(c, -w0), min(r + size, H - h0), min(c + size, W - w0)};
  Window::At best = window.begin();
  float most = *best;
  for (auto at = window.begin(); at != window.end(); ++at) {
    if (*at > most) most = *at, best = at;
  }
  const int output = (blockIdx.z * P + p) * Q + q;
  maxima[output] = most;
  indices[output] = (h0 + best.r) * W + w0 + best.c;
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const dim3 blocks((Q - 1) / kBlock.x + 1, (P - 1) / kBlock.y + 1, planes);
  const size_t cells = ((kBlock.y - 1) * stride + size) * ((kBlock.x - 1) * stride + size);
  largest<<<blocks, kBlock, cells * sizeof(float)>>>(input, maxima, indices, H, W, P, Q, size,
                                                     stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
