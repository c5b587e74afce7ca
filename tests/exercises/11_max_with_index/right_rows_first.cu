// Right in another way: the maximum of each window's rows first, then of these below each other. Blocks of 16 x 16
// outputs, tile loaded cell after cell.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kSide = 16;

__global__ void rows_first(const float* input, float* maxima, int* indices, int H, int W, int P,
                           int Q, int size, int stride, int padding) {
  extern __shared__ float tile[];
  const int high = (kSide - 1) * stride + size, wide = high;
  float* const row_largest = tile + high * wide;                              // [high][kSide]
  int* const row_place = reinterpret_cast<int*>(row_largest + high * kSide);  // [high][kSide]
  const int thread = threadIdx.x;
  const int h0 = static_cast<int>(blockIdx.y) * kSide * stride - padding;
  const int w0 = static_cast<int>(blockIdx.x) * kSide * stride - padding;
  const float* const plane = input + blockIdx.z * H * W;
  for (int k = thread; k < high * wide; k += kSide * kSide) {
    const int h = h0 + k / wide, w = w0 + k % wide;
    if (h >= 0 && w >= 0 && h < H && w < W) tile[k] = plane[h * W + w];
  }
  __syncthreads();
  for (int k = thread; k < high * kSide; k += kSide * kSide) {
    const int r = k / kSide, c0 = k % kSide * stride;
    int place = -1;
    if (h0 + r >= 0 && h0 + r < H) {
      for (int c = c0; c < c0 + size; ++c) {
        if (w0 + c < 0 || w0 + c >= W) continue;
        if (place < 0 || tile[r * wide + c] > tile[r * wide + place]) place = c;
      }
    }
    row_place[k] = place;
    if (place >= 0) row_largest[k] = tile[r * wide + place];
  }
  __syncthreads();
  const int x = thread % kSide, y = thread / kSide;
  const int p = blockIdx.y * kSide + y, q = blockIdx.x * kSide + x;
  if (p >= P || q >= Q) return;
  float largest = 0.0f;
  int index = -1;
  for (int r = y * stride; r < y * stride + size; ++r) {
    const int k = r * kSide + x;
    if (row_place[k] < 0) continue;
    if (index < 0 || row_largest[k] > largest) {
      largest = row_largest[k];
      index = (h0 + r) * W + w0 + row_place[k];
    }
  }
  maxima[(blockIdx.z * P + p) * Q + q] = largest;
  indices[(blockIdx.z * P + p) * Q + q] = index;
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const dim3 blocks((Q + kSide - 1) / kSide, (P + kSide - 1) / kSide, planes);
  const int high = (kSide - 1) * stride + size;
  rows_first<<<blocks, kSide * kSide, (high * high + 2 * high * kSide) * sizeof(float)>>>(
      input, maxima, indices, H, W, P, Q, size, stride, padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
