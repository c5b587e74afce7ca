// A layer of 1 x 1 filters in registers.
//
// Computes   output[n][k][p][q] = sum over c of filters[k][c] * input[n][c][p][q]; a bias and ReLU may follow. With
//            groups each by itself.
// How        a thread has several pixels and several filters, so a cell, once in a register, serves all those
//            filters, and a tap all those pixels. The filters of a block wait in shared memory; the cells do
//            not: neighbours along the map are neighbours in memory, so each channel's come straight into
//            registers, many channels ahead. There is no sum over threads and one barrier in all: a small
//            layer is little more than its first load and its store.
// Must cost  the input once for each block_filters filters, the filters once for each block_pixels pixels:
//            32 channels of 55 x 55 and 128 filters, 16 at a time: 8 * 0.39 + 96 * 0.016 MB, mostly from
//            the caches.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/pointwise/tile.hpp"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: blockDim.x = kPointwiseThreads; gridDim.x = images * blocks along a map; gridDim.y *
// kTileFilters >= K; gridDim.z = groups, of which C and K are one's; dynamic shared memory holds C * kTileFilters
// floats; packed is 16-byte aligned.
template <int kPixels, int kFilters, int kGroups>
__global__ void __launch_bounds__(kPointwiseThreads)
    pointwise_kernel(const float* input,                // [N][groups][C][pixels]
                     const float* __restrict__ packed,  // [groups][C][pitch]
                     float* output,                     // [N][groups][K][pixels]
                     int C, int K, int pitch, int pixels, Divisor blocks_of_map,
                     const float* __restrict__ bias,  // [groups][K], or null
                     bool relu) {
  constexpr int kTileFilters = kFilters * kGroups;
  constexpr int kTilePixels = kWarpSize * kPixels * (kPointwiseWarps / kGroups);
  // Channels that are under way while others are multiplied: 16 loads per thread. With 8 a
  // layer of 64 channels took longer; more did not help, and takes registers from other warps.
  constexpr int kAhead = 16 / kPixels;
  constexpr int kQuads = kTileFilters / 4;
  extern __shared__ float4 taps[];  // [C][kQuads]

  // Taps and first cells are under way together. Taking the taps through registers instead was tried:
  // small layers took a fifth to a third longer.
  const int first_filter = blockIdx.y * kTileFilters;
  for (int i = threadIdx.x; i < C * kQuads; i += kPointwiseThreads) {
    const long long row = (long long)(blockIdx.z * C + i / kQuads) * pitch;
    __pipeline_memcpy_async(taps + i, packed + row + first_filter + i % kQuads * 4, 16);
  }
  __pipeline_commit();
  // A sum begins with its bias: added after the sum it would be a load that all threads wait for at the end.
  const int warp = threadIdx.x / kWarpSize;
  const int own_filter = first_filter + warp % kGroups * kFilters;
  float sums[kFilters][kPixels] = {};
  if (bias != nullptr) {
#pragma unroll
    for (int k = 0; k < kFilters; ++k) {
      const float own_bias = bias[blockIdx.z * K + min(own_filter + k, K - 1)];
#pragma unroll
      for (float& sum : sums[k]) sum = own_bias;
    }
  }
  // Where calls overlap: from here on, what the call before this one wrote is there. Else nothing.
  cudaGridDependencySynchronize();

  const int image = static_cast<int>(blockIdx.x) / blocks_of_map;
  const long long group = image * gridDim.z + blockIdx.z;  // of all images
  const int first_pixel = static_cast<int>(blockIdx.x) % blocks_of_map * kTilePixels +
                          warp / kGroups * (kWarpSize * kPixels) + threadIdx.x % kWarpSize;
  // A pixel beyond the map reads the last one's cells: that is cheaper than a check at each load.
  const float* cell[kPixels];
#pragma unroll
  for (int v = 0; v < kPixels; ++v) {
    cell[v] = input + group * C * pixels + min(first_pixel + kWarpSize * v, pixels - 1);
  }
  float next[kAhead][kPixels];
  const auto fetch = [&](int first_channel) {
#pragma unroll
    for (int i = 0; i < kAhead * kPixels; ++i) {
      const int a = i / kPixels, v = i % kPixels;
      if (first_channel + a < C) next[a][v] = cell[v][(long long)a * pixels];
    }
#pragma unroll
    for (int v = 0; v < kPixels; ++v) cell[v] += (long long)kAhead * pixels;
  };
  fetch(0);

  __pipeline_wait_prior(0);
  __syncthreads();

  const float4* const tap = taps + warp % kGroups * (kFilters / 4);
  for (int c = 0; c < C; c += kAhead) {
    float now[kAhead][kPixels];
#pragma unroll
    for (int i = 0; i < kAhead * kPixels; ++i)
      now[i / kPixels][i % kPixels] = next[i / kPixels][i % kPixels];
    fetch(c + kAhead);
#pragma unroll
    for (int a = 0; a < kAhead; ++a) {
      if (c + a >= C) break;
#pragma unroll
      for (int k = 0; k < kFilters; k += 4) {
        // All lanes read the same 16 bytes: two wavefronts.
        const float4 four = tap[(c + a) * kQuads + k / 4];
#pragma unroll
        for (int v = 0; v < kPixels; ++v) {
          sums[k][v] += four.x * now[a][v];
          sums[k + 1][v] += four.y * now[a][v];
          sums[k + 2][v] += four.z * now[a][v];
          sums[k + 3][v] += four.w * now[a][v];
        }
      }
    }
  }

  float* const to = output + (group * K + own_filter) * pixels + first_pixel;
#pragma unroll
  for (int i = 0; i < kFilters * kPixels; ++i) {
    const int k = i / kPixels, v = i % kPixels;
    if (own_filter + k < K && first_pixel + kWarpSize * v < pixels) {
      // Not fmaxf, which turns a NaN into 0.
      to[(long long)k * pixels + kWarpSize * v] = relu && sums[k][v] < 0.0f ? 0.0f : sums[k][v];
    }
  }
}

template <class Tile>
static int launch(const LayerCall& call, const PointwiseTile& tile, int groups, Tile kernel) {
  const LayerNumbers& layer = call.layer;
  const int pixels = layer.H * layer.W, C = layer.C / groups, K = layer.K / groups;
  const Divisor blocks_of_map = (pixels - 1) / tile.block_pixels() + 1;
  return launch_overlapping(
      call.overlaps, kernel,
      dim3(layer.N * blocks_of_map, (K - 1) / tile.block_filters() + 1, groups), kPointwiseThreads,
      C * tile.block_filters() * sizeof(float), static_cast<cudaStream_t>(call.stream), call.input,
      call.packed, call.output, C, K, packed_pitch(K), pixels, blocks_of_map, call.bias, call.relu);
}

int pointwise(const LayerCall& call, const PointwiseTile& tile, int groups) {
  // clang-format off
  switch (tile.pixels * 1000 + tile.filters * 10 + tile.groups) {
    case 1044: return launch(call, tile, groups, pointwise_kernel<1, 4, 4>);
    case 1084: return launch(call, tile, groups, pointwise_kernel<1, 8, 4>);
    case 1162: return launch(call, tile, groups, pointwise_kernel<1, 16, 2>);
    case 2322: return launch(call, tile, groups, pointwise_kernel<2, 32, 2>);
    case 4081: return launch(call, tile, groups, pointwise_kernel<4, 8, 1>);
    case 4161: return launch(call, tile, groups, pointwise_kernel<4, 16, 1>);
    default: return cudaErrorInvalidConfiguration;
  }
  // clang-format on
}

}  // namespace halo::convolve
