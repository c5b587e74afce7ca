// Right in another way: tiles of 16 x 32 outputs for 256 threads, two below each other a thread; ghost cells lie
// in the tile as NaN, which no comparison prefers.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void two_rows(const float* input, float* maxima, int* indices, int H, int W, int P,
                         int Q, int size, int stride, int padding) {
  extern __shared__ float tile[];
  const int high = 15 * stride + size, wide = 31 * stride + size;
  const int h0 = static_cast<int>(blockIdx.y) * 16 * stride - padding;
  const int w0 = static_cast<int>(blockIdx.x) * 32 * stride - padding;
  for (int r = threadIdx.y; r < high; r += 8) {
    for (int c = threadIdx.x; c < wide; c += 32) {
      const int h = h0 + r, w = w0 + c;
      const bool exists = h >= 0 && w >= 0 && h < H && w < W;
      tile[r * wide + c] = exists ? input[(blockIdx.z * H + h) * W + w] : nanf("");
    }
  }
  __syncthreads();
  for (int e = 0; e < 2; ++e) {
    const int y = 2 * threadIdx.y + e;
    const int p = blockIdx.y * 16 + y, q = blockIdx.x * 32 + threadIdx.x;
    if (p >= P || q >= Q) continue;
    // From the far end: a cell that is as large, and comes first, wins.
    float largest = nanf("");
    int index = 0;
    for (int k = size * size - 1; k >= 0; --k) {
      const int r = y * stride + k / size, c = threadIdx.x * stride + k % size;
      const float cell = tile[r * wide + c];
      if (cell >= largest || (isnan(largest) && !isnan(cell))) {
        largest = cell;
        index = (h0 + r) * W + w0 + c;
      }
    }
    maxima[(blockIdx.z * P + p) * Q + q] = largest;
    indices[(blockIdx.z * P + p) * Q + q] = index;
  }
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const dim3 blocks((Q + 31) / 32, (P + 15) / 16, planes);
  const size_t bytes = (15 * stride + size) * (31 * stride + size) * sizeof(float);
  two_rows<<<blocks, dim3(32, 8), bytes>>>(input, maxima, indices, H, W, P, Q, size, stride,
                                           padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
