// The last kernel of fourier.cu: frequencies to tiles of the output, the first one's steps the other way round.
#pragma once

#include <cuda_pipeline.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: blockDim.x = kFourierThreads; gridDim.x = tile_pitch / kTiles * K.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads) from_frequencies_kernel(
    const float2* sums,  // [kFrequencies][K][tile_pitch], four times as large
    float* output,       // [images][K][P][Q]
    const float* bias,   // [K], or null
    bool relu, LayerNumbers layer, FourierDivision division, int images) {
  using F = Fourier<kSize>;
  __shared__ float2 on_chip[F::kOnChip];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int pitch = division.tile_pitch;
  const int first_tile = blockIdx.x % (pitch / F::kTiles) * F::kTiles;
  const int k = blockIdx.x / (pitch / F::kTiles);
  const float2* const from = sums + k * pitch + first_tile;
  wait_for_launches_before();
  for (int i = threadIdx.x; i < F::kFrequencies * F::kTiles; i += kFourierThreads) {
    const int frequency = i / F::kTiles, t = i % F::kTiles;
    __pipeline_memcpy_async(on_chip + F::place(frequency, t),
                            from + frequency * layer.K * pitch + t, 8);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  float2 z[kSize];
  const int u = lane % F::kHalf, tile = warp * F::kWarpTiles + lane / F::kHalf;
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) z[v] = on_chip[F::place((u - 1) * kSize + v, tile)];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = on_chip[F::place(F::kRealRows + v, tile)];
      const float2 b = on_chip[F::place(F::kRealRows + F::kHalf + 1 + v, tile)];
      z[v] = {a.x - b.y, a.y + b.x};
      if (v > 0 && v < F::kHalf) z[kSize - v] = {a.x + b.y, b.x - a.y};
    }
  }
  transform<true>(z);
  __syncthreads();  // all frequencies are in registers
  float2* const row = on_chip + (tile * F::kHalf + u) * F::kPitch;
#pragma unroll
  for (int j = 0; j < kSize; ++j) row[j] = z[j];
  __syncwarp();

  const int column = lane % kSize, pair = warp * F::kWarpTiles + lane / kSize * 2;
  const float2* const columns = on_chip + pair * F::kHalf * F::kPitch + column;
#pragma unroll
  for (int r = 0; r < F::kHalf; ++r) {
    const float2 a = columns[r * F::kPitch], b = columns[(F::kHalf + r) * F::kPitch];
    z[r] = r == 0 ? float2{a.x, b.x} : float2{a.x - b.y, a.y + b.x};
    z[r == 0 ? F::kHalf : kSize - r] = r == 0 ? float2{a.y, b.y} : float2{a.x + b.y, b.x - a.y};
  }
  transform<true>(z);

  constexpr float kScale = 1.0f / (4 * kSize * kSize);  // a power of two: exact
  const float its_bias = bias != nullptr ? bias[k] : 0.0f;
#pragma unroll
  for (int second = 0; second < 2; ++second) {
    const int t = first_tile + pair + second;
    const int n = t / division.tiles_across / division.tiles_down;
    const int p = t / division.tiles_across % division.tiles_down * division.outputs_down;
    const int q = t % division.tiles_across * division.outputs_across + column;
    if (n >= images || column >= division.outputs_across || q >= layer.Q) continue;
    float* const to = output + (static_cast<long long>(n) * layer.K + k) * layer.P * layer.Q + q;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if (i >= division.outputs_down || p + i >= layer.P) continue;
      float sum = (second ? z[i].y : z[i].x) * kScale + its_bias;
      if (relu && sum < 0.0f) sum = 0.0f;  // not fmaxf, which turns a NaN into 0
      to[(p + i) * layer.Q] = sum;
    }
  }
}

}  // namespace halo::convolve
