// Stage 08, step 5: an outer product per thread.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 4 stride_fixed: a thread has not one pixel but eight, and eight filters. For a
//            tap it reads 8 + 8 values from shared memory and multiplies each with each, an outer
//            product: 64 multiply-adds for 4 reads of 16 bytes. Step 4 needs 20 reads for as many.
// Must cost  the input R * S times for each 64 filters, the filters once for each 128 pixels. 256 channels of
//            56 x 56 (3.2 MB) and 256 filters of 3 x 3 (2.4 MB): 4 * 9 * 3.2 + 25 * 2.4 = 175 MB, nearly all
//            of it from the L2 cache.
// Run        ./halo run 08 --variant outer_product
#include "common/convolve/packed_filters.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/kernel.h"

namespace halo::multi_channel_stride_fixed {

// A block's tile of outputs; and a segment, which is one tap of so many channels.
constexpr int kTileFilters = 64, kTilePixels = 128, kChannels = 16;
constexpr int kThreads = 128;  // each has 8 x 8 outputs

// Preconditions: filters packed; gridDim.x = tiles of all filters * tiles of the pixels, which
// are numbered across all images; blockDim.x = kThreads.
__global__ void __launch_bounds__(kThreads)
    outer_product_kernel(const float* input,   // [N][C][H][W]
                         const float* packed,  // [R * S][channels][row]
                         float* output,        // [N][K][P][Q]
                         const LayerNumbers layer) {
  __shared__ float4 filters[2][kChannels][kTileFilters / 4];  // a segment in use, one under way
  __shared__ float4 pixels[2][kChannels][kTilePixels / 4];
  const int groups = (layer.K - 1) / kTileFilters + 1, row = groups * kTileFilters;
  const int first_filter = blockIdx.x % groups * kTileFilters;
  const int first_pixel = blockIdx.x / groups * kTilePixels;
  const int thread = threadIdx.x, map = layer.P * layer.Q;

  // A thread copies the cells of one pixel: where its tap (0, 0) is.
  const int pixel = first_pixel + thread, n = pixel / map;
  const int top = pixel % map / layer.Q * layer.stride_h - layer.padding_h;
  const int left = pixel % layer.Q * layer.stride_w - layer.padding_w;
  const float* next_filters =
      packed + first_filter + thread / (kTileFilters / 4) * row + thread % (kTileFilters / 4) * 4;
  int c = 0, r = 0, s = 0;  // of the next segment

  const auto copy_next = [&](int place) {
    constexpr int kRows = kThreads / (kTileFilters / 4);  // that all threads copy at once
    for (int i = 0; i < kChannels; i += kRows) {
      float4* const to = &filters[place][i][0] + thread;
      __pipeline_memcpy_async(to, next_filters + i * row, sizeof(float4));
    }
    next_filters += kChannels * row;
    const int h = top + r, w = left + s;
    const bool exists = n < layer.N && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    const float* const cell =
        exists ? input + ((n * layer.C + c) * layer.H + h) * layer.W + w : input;
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      float* const to = reinterpret_cast<float*>(pixels[place][i]) + thread;
      const bool is_cell = exists && c + i < layer.C;
      copy_or_zero_async<4>(to, is_cell ? cell + i * layer.H * layer.W : input, is_cell);
    }
    c += kChannels;
    if (c >= layer.C) c = 0, s += 1;
    if (s == layer.S) s = 0, r += 1;
  };

  // Four warps are 2 x 2. The lanes of a warp stand like this, filters down and pixels across, so that neighbours
  // share filters or pixels: a read of 16 bytes per lane then takes two passes through the banks, not four.
  //    0  1  4  5  8  9 12 13
  //    2  3  6  7 10 11 14 15
  //   16 17 20 21 24 25 28 29
  //   18 19 22 23 26 27 30 31
  // A lane has two quads of filters, 4 quads apart, and two of pixels, 8 quads apart.
  const int lane = thread % kWarpSize, warp = thread / kWarpSize;
  const int own_filter = warp % 2 * 8 + lane / 2 % 2 + lane / 16 * 2;  // in quads
  const int own_pixel = warp / 2 * 16 + lane % 2 + lane / 4 % 4 * 2;   // in quads
  float sums[8][8] = {};
  const int segments = layer.R * layer.S * ((layer.C - 1) / kChannels + 1);
  copy_next(0);
  for (int segment = 0; segment < segments; ++segment) {
    const int place = segment % 2;
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the segment is here, and nobody reads the one before it any more
    if (segment + 1 < segments) copy_next(1 - place);
      // [doc:outer-product]
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const float4 a[2] = {filters[place][i][own_filter], filters[place][i][own_filter + 4]};
      const float4 b[2] = {pixels[place][i][own_pixel], pixels[place][i][own_pixel + 8]};
#pragma unroll
      for (int j = 0; j < 64; ++j) {
        sums[j / 8][j % 8] +=
            reinterpret_cast<const float*>(a)[j / 8] * reinterpret_cast<const float*>(b)[j % 8];
      }
    }
    // [/doc:outer-product]
  }
  for (int j = 0; j < 8; ++j) {
    const int m = first_pixel + (own_pixel + j / 4 * 8) * 4 + j % 4;
    if (m >= layer.N * map) continue;
    for (int i = 0; i < 8; ++i) {
      const int k = first_filter + (own_filter + i / 4 * 4) * 4 + i % 4;
      if (k < layer.K) output[(m / map * layer.K + k) * map + m % map] = sums[i][j];
    }
  }
}

static int launch(const LayerCall& call) {
  const LayerNumbers& layer = call.layer;
  const int tiles = (layer.N * layer.P * layer.Q - 1) / kTilePixels + 1;
  const int groups = (layer.K - 1) / kTileFilters + 1;
  const auto stream = static_cast<cudaStream_t>(call.stream);
  outer_product_kernel<<<groups * tiles, kThreads, 0, stream>>>(call.input, call.packed,
                                                                call.output, layer);
  return cudaGetLastError();
}

LayerKernel outer_product() {
  return {.description = "tiles of 8 x 8 outputs in a thread's registers",
          .launch = launch,
          .packed_floats = convolve::packed_floats,
          .pack = convolve::pack_filters,
          .tuned = true,
          .tiles = {{.C = kChannels, .K = kTileFilters, .cells = kTilePixels}},
          .multiplies_ghosts = true};
}

}  // namespace halo::multi_channel_stride_fixed
