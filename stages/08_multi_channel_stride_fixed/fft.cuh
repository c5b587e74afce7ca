// Stage 08, step 7: the Fourier transform of 16 numbers in a thread's registers.
#pragma once

#include <cuda_runtime.h>

#include "stages/08_multi_channel_stride_fixed/fourier_tile.hpp"

namespace halo::multi_channel_stride_fixed {

__device__ constexpr int reversed(int i) {
  return i % 2 * 8 + i / 2 % 2 * 4 + i / 4 % 2 * 2 + i / 8;
}

// Four rounds of butterflies: x[i] becomes frequency reversed(i). kSign -1: there; 1: back, times 16.
template <int kSign>
__device__ __forceinline__ void fft(float2 (&x)[kSize]) {
  constexpr float kCos[] = {1.0f, 0.923879533f,  0.707106781f,  0.382683432f,
                            0.0f, -0.382683432f, -0.707106781f, -0.923879533f};
#pragma unroll
  for (int half = kSize / 2; half > 0; half /= 2) {
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if ((i & half) != 0) continue;
      const float2 sum = {x[i].x + x[i + half].x, x[i].y + x[i + half].y};
      const float2 d = {x[i].x - x[i + half].x, x[i].y - x[i + half].y};
      const int turn = i % half * (8 / half);  // in sixteenths
      const float c = kCos[turn], s = kSign * kCos[turn < 4 ? 4 - turn : turn - 4];
      x[i] = sum;
      x[i + half] = turn == 0 ? d : float2{d.x * c - d.y * s, d.x * s + d.y * c};
    }
  }
}

}  // namespace halo::multi_channel_stride_fixed
