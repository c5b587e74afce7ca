// The first kernel of fourier.cu: tiles of the input to frequencies.
//
//   a lane          a column of two tiles, as one complex column      ->   a row of one tile
//   shared memory   columns of a tile, half transformed: rows 1 to kHalf - 1, and row 0 with row kHalf, which are real
//                   there and so share a place
#pragma once

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: blockDim.x = kFourierThreads; gridDim.x = pitch / kTiles * C. A lane has a column of two tiles, which
// it transforms as one: real cells of the first, imaginary ones of the second. Then a row of one tile.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads)
    to_frequencies_kernel(const float* input,   // [images][C][H][W]
                          float2* transformed,  // [kFrequencies][C][pitch], twice as large
                          LayerNumbers layer, FourierDivision division, int images, int pitch) {
  using F = Fourier<kSize>;
  __shared__ float2 on_chip[F::kOnChip];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int first_tile = blockIdx.x % (pitch / F::kTiles) * F::kTiles;
  const int c = blockIdx.x / (pitch / F::kTiles);

  float2 z[kSize];
  const int column = lane % kSize, pair = warp * F::kWarpTiles + lane / kSize * 2;
  wait_for_launches_before();
#pragma unroll
  for (int second = 0; second < 2; ++second) {
    const int tile = first_tile + pair + second;
    const int n = tile / division.tiles_across / division.tiles_down;
    const int h = tile / division.tiles_across % division.tiles_down * division.outputs_down -
                  layer.padding_h;
    const int w = tile % division.tiles_across * division.outputs_across - layer.padding_w + column;
    const bool exists = n < images && w >= 0 && w < layer.W;
    const float* const cells =
        input + (static_cast<long long>(n) * layer.C + c) * layer.H * layer.W + w;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const bool here = exists && h + i >= 0 && h + i < layer.H;
      (second ? z[i].y : z[i].x) = here ? cells[(h + i) * layer.W] : 0.0f;
    }
  }
  transform<false>(z);
  // Two real columns come apart by symmetry (drawn in stages/08_.../fourier_tile.cuh): frequency u of a real one is the
  // conjugate of -u. Numbers 0 and kHalf of a real column are real, so they share a place, and are one row from here
  // on.
  float2* const columns = on_chip + pair * F::kHalf * F::kPitch + column;
#pragma unroll
  for (int u = 0; u < F::kHalf; ++u) {
    const float2 a = z[u], b = z[(kSize - u) % kSize], middle = z[F::kHalf];
    columns[u * F::kPitch] = u == 0 ? float2{2 * a.x, 2 * middle.x} : float2{a.x + b.x, a.y - b.y};
    columns[(F::kHalf + u) * F::kPitch] =
        u == 0 ? float2{2 * a.y, 2 * middle.y} : float2{a.y + b.y, b.x - a.x};
  }
  __syncwarp();

  const int u = lane % F::kHalf, tile = warp * F::kWarpTiles + lane / F::kHalf;
  const float2* const row = on_chip + (tile * F::kHalf + u) * F::kPitch;
#pragma unroll
  for (int j = 0; j < kSize; ++j) z[j] = row[j];
  transform<false>(z);
  __syncthreads();  // all rows are in registers: their places are free
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) on_chip[F::place((u - 1) * kSize + v, tile)] = z[v];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = z[v], b = z[(kSize - v) % kSize];
      on_chip[F::place(F::kRealRows + v, tile)] = {0.5f * (a.x + b.x), 0.5f * (a.y - b.y)};
      on_chip[F::place(F::kRealRows + F::kHalf + 1 + v, tile)] = {0.5f * (a.y + b.y),
                                                                  0.5f * (b.x - a.x)};
    }
  }
  __syncthreads();
  float2* const to = transformed + c * pitch + first_tile;
  for (int i = threadIdx.x; i < F::kFrequencies * F::kTiles; i += kFourierThreads) {
    const int frequency = i / F::kTiles, t = i % F::kTiles;
    to[frequency * layer.C * pitch + t] = on_chip[F::place(frequency, t)];
  }
}

}  // namespace halo::convolve
