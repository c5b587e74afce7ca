// Stage 09, step 4: float's accuracy from tensor cores.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 3 gemm_tile: tensor cores multiply, 16 x 8 filters by 8 x 8 cells per instruction. Of a
//            factor they keep 10 bits after the point (TF32), so each is split, big + small, and of the four
//            products three are added up: small * big, big * small, big * big. And a block has a large tile
//            and the whole reduction, as in stage 08's outer product: this is for layers that fill the GPU.
// Must cost  the input R * S times for each 64 filters, the filters once for each 128 outputs; and three times the
//            instructions of one TF32 product.
// Run        ./halo run 09 --variant three_products
#include "common/harness/async_copy.h"
#include "common/harness/tf32.h"
#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

// A block's tile of outputs; a segment of the sum, which is 16 channels of one tap; rows whose neighbours are 8 banks
// apart, so that the lanes of an operand, 4 rows of 8 values, are in 32 banks.
constexpr int kTileFilters = 64, kTilePixels = 128, kChannels = 16, kThreads = 128;
constexpr int kFilterRow = kTileFilters + 8, kPixelRow = kTilePixels + 8;

// Preconditions: filters packed; gridDim.x = tiles of filters * tiles of pixels; blockDim.x = kThreads.
__global__ void __launch_bounds__(kThreads, 2)
    three_products_kernel(const float* input,   // [N][C][H][W]
                          const float* packed,  // [R * S][channels][row]
                          float* output,        // [N][K][P][Q]
                          const LayerNumbers layer) {
  __shared__ float4 on_chip[2][kChannels * (kFilterRow + kPixelRow) / 4];  // in use, under way
  const int groups = (layer.K - 1) / kTileFilters + 1, row = groups * kTileFilters;
  const int first_filter = blockIdx.x % groups * kTileFilters;
  const int first_pixel = blockIdx.x / groups * kTilePixels;
  const int thread = threadIdx.x, map = layer.P * layer.Q, plane = layer.H * layer.W;

  // Copies are those of stage 08's outer product, but for the rows' length.
  const int pixel = first_pixel + thread, n = pixel / map;
  const int top = pixel % map / layer.Q * layer.stride_h - layer.padding_h;
  const int left = pixel % layer.Q * layer.stride_w - layer.padding_w;
  const float* from = packed + first_filter + thread / 16 * row + thread % 16 * 4;
  int c = 0, r = 0, s = 0;
  const auto copy_next = [&](float4* place) {
    float* const filters = reinterpret_cast<float*>(place);
    float* const to = filters + thread / 16 * kFilterRow + thread % 16 * 4;
    for (int i = 0; i < kChannels; i += kThreads / 16, from += kThreads / 16 * row) {
      __pipeline_memcpy_async(to + i * kFilterRow, from, sizeof(float4));
    }
    const int h = top + r, w = left + s;
    const bool exists = n < layer.N && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    const float* const cell = input + ((n * layer.C + c) * layer.H + h) * layer.W + w;
    float* const pixels = filters + kChannels * kFilterRow + thread;
#pragma unroll
    for (int i = 0; i < kChannels; ++i) {
      const bool is_cell = exists && c + i < layer.C;
      copy_or_zero_async<4>(pixels + i * kPixelRow, is_cell ? cell + i * plane : input, is_cell);
    }
    c += kChannels;
    if (c >= layer.C) c = 0, s += 1;
    if (s == layer.S) s = 0, r += 1;
  };

  // A warp has all filters of the tile, in four fragments, and 32 pixels, in four.
  const int g = thread % kWarpSize / 4, t = thread % 4, warp_pixel = thread / kWarpSize * kWarpSize;
  float sums[4][4][4] = {};
  const int segments = layer.R * layer.S * ((layer.C - 1) / kChannels + 1);
  copy_next(on_chip[0]);
  for (int segment = 0; segment < segments; ++segment) {
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();  // the segment is here, and nobody reads the one before it any more
    if (segment + 1 < segments) copy_next(on_chip[1 - segment % 2]);
    const float* const operands = reinterpret_cast<const float*>(on_chip[segment % 2]) + g;
    const float* const filters = operands + t * kFilterRow;
    const float* const pixels = operands + kChannels * kFilterRow + t * kPixelRow + warp_pixel;
    // Tensor cores truncate sums, always towards zero: of many products of one sign that adds
    // up. So the sum of each segment begins with zero, and is added by additions that round.
    float recent[4][4][4] = {};
#pragma unroll
    for (int i = 0; i < kChannels; i += 8) {
      // [doc:three-step]
      std::uint32_t a[2][4][4], b[2][4][2];  // the small ones, then the big ones
#pragma unroll
      for (int e = 0; e < 16; ++e) {
        const Tf32Parts filter =
            tf32_parts(filters[(i + e / 2 % 2 * 4) * kFilterRow + e / 4 * 16 + e % 2 * 8]);
        a[0][e / 4][e % 4] = filter.small, a[1][e / 4][e % 4] = filter.big;
      }
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const Tf32Parts pixel = tf32_parts(pixels[(i + e % 2 * 4) * kPixelRow + e / 2 * 8]);
        b[0][e / 2][e % 2] = pixel.small, b[1][e / 2][e % 2] = pixel.big;
      }
      // All 16 fragments of a product before the next, which waits long for their sums; the small ones first.
#pragma unroll
      for (int e = 0; e < 48; ++e) {
        multiply_tf32(recent[e / 4 % 4][e % 4], a[e / 16 > 0][e / 4 % 4], b[e / 16 != 1][e % 4]);
      }
      // [/doc:three-step]
    }
#pragma unroll
    for (int e = 0; e < 64; ++e) sums[e / 16][e / 4 % 4][e % 4] += recent[e / 16][e / 4 % 4][e % 4];
  }
#pragma unroll
  for (int e = 0; e < 64; ++e) {
    const int k = first_filter + e / 16 * 16 + e / 2 % 2 * 8 + g;
    const int m = first_pixel + warp_pixel + e / 4 % 4 * 8 + 2 * t + e % 2;
    if (k >= layer.K || m >= layer.N * map) continue;
    output[(m / map * layer.K + k) * map + m % map] = sums[e / 16][e / 4 % 4][e % 4];
  }
}

static int launch(const LayerCall& call) {
  const LayerNumbers& layer = call.layer;
  const int tiles = (layer.N * layer.P * layer.Q - 1) / kTilePixels + 1;
  const int blocks = ((layer.K - 1) / kTileFilters + 1) * tiles;
  three_products_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(call.stream)>>>(
      call.input, call.packed, call.output, layer);
  return cudaGetLastError();
}

LayerKernel three_products() {
  return {.description = "tensor cores, factors in two parts of TF32, three products",
          .launch = launch,
          .packed_floats = convolve::packed_floats,
          .pack = convolve::pack_filters,
          .tuned = true,
          .tiles = {{.C = kChannels, .K = kTileFilters, .cells = kTilePixels}},
          .arithmetic = Arithmetic::tf32_split,
          .multiplies_ghosts = true};
}

}  // namespace halo::cuconv_two_stage
