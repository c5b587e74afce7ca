// Stage 13, step 5: LeNet's layers, as a block computes them that has one image.
#pragma once

#include <cuda_runtime.h>

#include "stages/13_network/fused_lenet.hpp"

namespace halo::network {

// 49 windows of the second map times 8 pairs of filters: one turn there, four of the first map's 196 windows.
constexpr int kThreads = 392, kPairs = kLenetFilters / 2, kTaps = 25;

// Filters of 5 x 5, and maxima of 2 x 2. A thread has two filters and a window: 8 sums, for which it reads 36 cells of each
// channel into registers, and each pair of taps once.
template <int kChannels, int kSize, int kToPitch>
__device__ void convolve(const float* from,   // [kChannels][kSize + 4][kSize + 4], a frame of zeros
                         const float2* taps,  // [kPairs][kChannels][kTaps]
                         const float* bias,   // [16]
                         float* sums,         // [16][kSize][kSize], in memory
                         float* pooled,       // [16][kSize / 2][kSize / 2], in memory
                         float* to) {         // [16][kToPitch][kToPitch], from its first cell on
  constexpr int kPitch = kSize + 4, kHalf = kSize / 2, kWindows = kHalf * kHalf;
  for (int turn = 0; turn < kPairs * kWindows / kThreads; ++turn) {
    const int i = turn * kThreads + threadIdx.x, pair = i / kWindows;
    const int p = i % kWindows / kHalf, q = i % kHalf;
    float window[2][2][2] = {};
#pragma unroll 1
    for (int c = 0; c < kChannels; ++c) {
      float cells[6][6];
#pragma unroll
      for (int j = 0; j < 18; ++j) {
        const float* const two = from + (c * kPitch + 2 * p + j / 3) * kPitch + 2 * q + j % 3 * 2;
        *reinterpret_cast<float2*>(&cells[j / 3][j % 3 * 2]) =
            *reinterpret_cast<const float2*>(two);
      }
#pragma unroll
      for (int tap = 0; tap < kTaps; ++tap) {
        const float2 of_pair = taps[(pair * kChannels + c) * kTaps + tap];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          window[0][j / 2][j % 2] += of_pair.x * cells[tap / 5 + j / 2][tap % 5 + j % 2];
          window[1][j / 2][j % 2] += of_pair.y * cells[tap / 5 + j / 2][tap % 5 + j % 2];
        }
      }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int k = 2 * pair + j;
      const float own_bias = bias[k];
      float largest = 0.0f;  // as ReLU leaves nothing below it
#pragma unroll
      for (int row = 0; row < 2; ++row) {
        float2 two = {window[j][row][0] + own_bias, window[j][row][1] + own_bias};
        two.x = two.x < 0.0f ? 0.0f : two.x;  // not fmaxf, which turns a NaN into 0
        two.y = two.y < 0.0f ? 0.0f : two.y;
        largest = fmaxf(largest, fmaxf(two.x, two.y));
        *reinterpret_cast<float2*>(sums + (k * kSize + 2 * p + row) * kSize + 2 * q) = two;
      }
      pooled[k * kWindows + i % kWindows] = largest;
      to[(k * kToPitch + p) * kToPitch + q] = largest;
    }
  }
}

// A warp has every twelfth output; its lanes share the features. (The last eight threads are no whole warp.)
template <int kFeatures, int kOutputs>
__device__ void connect(const float* from,     // [kFeatures], in shared memory
                        const float* filters,  // [kOutputs][kFeatures]
                        const float* bias, bool relu, float* outputs, float* to) {
  constexpr int kWarps = kThreads / kWarpSize;
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  if (warp == kWarps) return;
  for (int k = warp; k < kOutputs; k += kWarps) {
    float sum = 0.0f;
#pragma unroll
    for (int i = lane; i - lane < kFeatures / 4; i += kWarpSize) {
      if (i >= kFeatures / 4) continue;
      const float4 a = reinterpret_cast<const float4*>(filters + k * kFeatures)[i];
      const float4 b = reinterpret_cast<const float4*>(from)[i];
      sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int i = kWarpSize / 2; i > 0; i /= 2) sum += __shfl_xor_sync(~0u, sum, i);
    sum += bias[k];
    if (relu && sum < 0.0f) sum = 0.0f;
    if (lane == 0) outputs[k] = to[k] = sum;
  }
}

}  // namespace halo::network
