// What the lanes of a warp do with its tile: they bring it, each adds its own outputs up, and they write them.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_tiled_halo {

// tile[q] becomes the quad of cells from input[from + 4 * q] on; cells beyond the ends are zero. Where all
// exist, all of a lane's loads are under way before the first is stored.
template <int kOutputs>
__device__ __forceinline__ void load(float4* tile,        // [quads], shared
                                     const float* input,  // [n]
                                     long long from, int n, int quads) {
  const int lane = threadIdx.x % kWarpSize;
  if (from >= 0 && from + 4LL * quads <= n) {
    const float4* source = reinterpret_cast<const float4*>(input + from);
    constexpr int kRows = kOutputs / 4 + 1;  // the last may be part of a row, or of several
    // [doc:load]
    float4 rows[kRows];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < kRows - 1 || r * kWarpSize + lane < quads) rows[r] = source[r * kWarpSize + lane];
    }
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (r < kRows - 1 || r * kWarpSize + lane < quads) tile[r * kWarpSize + lane] = rows[r];
    }
    // [/doc:load]
    for (int q = kRows * kWarpSize + lane; q < quads; q += kWarpSize)
      tile[q] = source[q];  // a wide mask's halo
  } else {
    float* cells = reinterpret_cast<float*>(tile);
#pragma unroll 1
    for (int s = lane; s < 4 * quads; s += kWarpSize) {
      const long long k = from + s;
      cells[s] = k >= 0 && k < n ? input[k] : 0.0f;
    }
  }
}

// Adds kTaps taps to each of a thread's outputs: sums[v] += cells[kShift + v + j] * mask[j]. cells is
// in shared memory, 16-byte aligned.
template <int kTaps, int kShift, int kOutputs>
__device__ __forceinline__ void add_taps(const float* cells, const float* mask,
                                         float (&sums)[kOutputs]) {
  constexpr int kQuads = (kShift + kOutputs + kTaps - 1 + 3) / 4;
  float window[4 * kQuads];
#pragma unroll
  for (int q = 0; q < kQuads; ++q) {
    const float4 quad = reinterpret_cast<const float4*>(cells)[q];
    window[4 * q] = quad.x;
    window[4 * q + 1] = quad.y;
    window[4 * q + 2] = quad.z;
    window[4 * q + 3] = quad.w;
  }
  // [doc:add_taps]
#pragma unroll
  for (int j = 0; j < kTaps; ++j) {
    const float tap = mask[j];
#pragma unroll
    for (int v = 0; v < kOutputs; ++v) sums[v] += window[kShift + v + j] * tap;
  }
  // [/doc:add_taps]
}

// All `width` taps: 16 at a time, then the rest.
template <int kShift, int kOutputs>
__device__ __forceinline__ void add_mask(const float* cells, const float* mask, int width,
                                         float (&sums)[kOutputs]) {
  int j = 0;
  for (; j + 16 <= width; j += 16) add_taps<16, kShift>(cells + j, mask + j, sums);
  // The rest is an odd number. A case for each keeps window and sums in registers.
  const float* rest = mask + j;
  // clang-format off
  switch (width - j) {
    case 1: add_taps<1, kShift>(cells + j, rest, sums); break;
    case 3: add_taps<3, kShift>(cells + j, rest, sums); break;
    case 5: add_taps<5, kShift>(cells + j, rest, sums); break;
    case 7: add_taps<7, kShift>(cells + j, rest, sums); break;
    case 9: add_taps<9, kShift>(cells + j, rest, sums); break;
    case 11: add_taps<11, kShift>(cells + j, rest, sums); break;
    case 13: add_taps<13, kShift>(cells + j, rest, sums); break;
    default: add_taps<15, kShift>(cells + j, rest, sums); break;
  }
  // clang-format on
}

// Writes the sums of all lanes, of which those from first to last - 1 are outputs. They go through the tile once
// more: neighbouring lanes then write neighbouring 16 bytes.
template <int kOutputs>
__device__ __forceinline__ void store(float4* tile,   // shared
                                      float* output,  // [n]
                                      const float (&sums)[kOutputs], long long start, int first,
                                      int last) {
  const int lane = threadIdx.x % kWarpSize;
  __syncwarp();  // all lanes have read their cells
#pragma unroll
  for (int q = 0; q < kOutputs / 4; ++q) {
    tile[lane * (kOutputs / 4) + q] =
        make_float4(sums[4 * q], sums[4 * q + 1], sums[4 * q + 2], sums[4 * q + 3]);
  }
  __syncwarp();
  if (start >= first && start + kWarpSize * kOutputs <= last) {
    float4* target = reinterpret_cast<float4*>(output + start);
#pragma unroll
    for (int r = 0; r < kOutputs / 4; ++r)
      target[r * kWarpSize + lane] = tile[r * kWarpSize + lane];
  } else {
    const float* cells = reinterpret_cast<const float*>(tile);
    for (int s = lane; s < kWarpSize * kOutputs; s += kWarpSize) {
      if (start + s >= first && start + s < last) output[start + s] = cells[s];
    }
  }
}

}  // namespace halo::conv1d_tiled_halo
