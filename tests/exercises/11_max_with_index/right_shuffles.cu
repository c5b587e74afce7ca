// Right in another way: no shared memory. A warp has 32 outputs of a row, holds the cells of one row of their
// windows at a time in up to five registers a lane, and takes each tap's cell by shuffles.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kRegisters = 5;  // 31 * 4 + 11 cells

__global__ void by_shuffles(const float* input, float* maxima, int* indices, int H, int W, int P,
                            int Q, int warps_across, int size, int stride, int padding) {
  const int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first_q = warp % warps_across * 32;
  const int p = warp / warps_across % P, plane = warp / warps_across / P;
  const int first_w = first_q * stride - padding, first_h = p * stride - padding;
  const int held = (31 * stride + size - 1) / 32 + 1;
  float largest = 0.0f;
  int index = -1;
  for (int h = max(first_h, 0); h < min(first_h + size, H); ++h) {
    float cells[kRegisters] = {};
    for (int k = 0; k < kRegisters; ++k) {
      const int w = first_w + 32 * k + lane;
      const bool needed = 32 * k + lane < 31 * stride + size && w >= 0 && w < W;
      if (needed) cells[k] = input[(plane * H + h) * W + w];
    }
    for (int s = 0; s < size; ++s) {
      const int at = lane * stride + s;
      float cell = 0.0f;
      for (int k = 0; k < held; ++k) {
        const float there = __shfl_sync(0xffffffffu, cells[k], at % 32);
        if (at / 32 == k) cell = there;
      }
      const int w = first_w + at;
      if (w >= 0 && w < W && (index < 0 || cell > largest)) {
        largest = cell;
        index = h * W + w;
      }
    }
  }
  if (first_q + lane >= Q) return;
  maxima[(plane * P + p) * Q + first_q + lane] = largest;
  indices[(plane * P + p) * Q + first_q + lane] = index;
}

static int launch(const float* input, float* maxima, int* indices, int planes, int H, int W,
                  int size, int stride, int padding) {
  const int P = (H + 2 * padding - size) / stride + 1, Q = (W + 2 * padding - size) / stride + 1;
  const int across = (Q - 1) / 32 + 1;
  by_shuffles<<<planes * P * across, 32>>>(input, maxima, indices, H, W, P, Q, across, size, stride,
                                           padding);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
