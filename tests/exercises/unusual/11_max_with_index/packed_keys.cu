// A cell and its index are one 64-bit key, whose maximum is both answers; the tile is a struct template of the
// window's size where that is 2 or 3.
#include <cuda_runtime.h>

#include <cuda/std/bit>
#include <cuda/std/limits>

#include "common/exercise/exercise.h"

// Keys are ordered as the floats are; of equal ones the smaller index is the larger key.
__device__ unsigned long long key_of(float value, int index) {
  const auto bits = cuda::std::bit_cast<unsigned>(value + 0.0f);
  const unsigned ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(ordered) << 32 |
         (0xffffffffu - static_cast<unsigned>(index));
}
__device__ float value_of(unsigned long long key) {
  const auto ordered = static_cast<unsigned>(key >> 32);
  return cuda::std::bit_cast<float>(ordered >> 31 ? ordered ^ 0x80000000u : ~ordered);
}

struct Shape {
  int H, W, P, Q, size, stride, padding;
};

template <int kSize>
__global__ void __launch_bounds__(256) keys(const float* __restrict__ input, float* maxima,
                                            int* indices, const __grid_constant__ Shape shape) {
  extern __shared__ float tile[];
  const int size = kSize > 0 ? kSize : shape.size, stride = shape.stride;
  const int rows = 7 * stride + size, columns = 31 * stride + size;
  const float* const plane = input + blockIdx.z * shape.H * shape.W;
  const int h0 = static_cast<int>(blockIdx.y) * 8 * stride - shape.padding;
  const int w0 = static_cast<int>(blockIdx.x) * 32 * stride - shape.padding;
  for (int i = threadIdx.x; i < rows * columns; i += 256) {
    const int h = h0 + i / columns, w = w0 + i % columns;
    if (h >= 0 && h < shape.H && w >= 0 && w < shape.W) tile[i] = plane[h * shape.W + w];
  }
  __syncthreads();
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  const int p = blockIdx.y * 8 + y, q = blockIdx.x * 32 + x;
  if (p >= shape.P || q >= shape.Q) return;
  unsigned long long best = 0;
  for (int r = 0; r < size; ++r) {
    for (int s = 0; s < size; ++s) {
      const int h = h0 + y * stride + r, w = w0 + x * stride + s;
      if (h < 0 || h >= shape.H || w < 0 || w >= shape.W) continue;
      best = max(best, key_of(tile[(y * stride + r) * columns + x * stride + s], h * shape.W + w));
    }
  }
  const int to = (blockIdx.z * shape.P + p) * shape.Q + q;
  maxima[to] = value_of(best);
  indices[to] = static_cast<int>(0xffffffffu - static_cast<unsigned>(best));
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const Shape shape = {H,
                       W,
                       (H + 2 * padding - size) / stride + 1,
                       (W + 2 * padding - size) / stride + 1,
                       size,
                       stride,
                       padding};
  const auto kernel = size == 2 ? keys<2> : size == 3 ? keys<3> : keys<0>;
  kernel<<<dim3((shape.Q - 1) / 32 + 1, (shape.P - 1) / 8 + 1, planes), 256,
           (7 * stride + size) * (31 * stride + size) * sizeof(float)>>>(input, maxima, indices,
                                                                         shape);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
