// Stage 10, step 2: pixels across the lanes of a warp.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero; input and output are in either layout, NCHW or CHWN.
// Changed    since 1 images_across_lanes: a block has up to 128 pixels instead of one pixel of 128
//            images. Each lane has a place of its own in the image, and ghost cells of its own. Lanes
//            are neighbouring pixels, neighbours in NCHW.
// Must cost  per block and tap one request for each 32 pixels: of 4 or 5 sectors in NCHW if they are
//            in one row and stride is 1, more at row ends; of up to 32 in CHWN, where pixels are N
//            floats apart. Everything else as step 1.
// Run        ./halo run 10_layout_convolution --variant pixels_nchw   (and pixels_chwn)
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/10_layout_convolution/tile.cuh"

namespace halo::layout_convolution {

struct Pixel {
  int n, p, q;
};

// Pixels are numbered across the whole batch: row after row, then the next image's. If each image
// began a new warp, a map of 13 x 13 would leave 23 of 192 lanes idle, and one of 7 x 7 15 of 64.
__device__ inline Pixel pixel_at(const LayerNumbers& layer, int number) {
  return {number / (layer.P * layer.Q), number / layer.Q % layer.P, number % layer.Q};
}

// Loads the cells of the warp's taps: one of each of the lane's pixels.
template <int kColumns, int kFilters>
__device__ void load_cells(Share<kColumns, kFilters>& share, const float* input,
                           const LayerNumbers& layer, const Layout& in, const Pixel* pixels,
                           const Tap* own) {
#pragma unroll
  for (int row = 0; row < kTaps / kWarps; ++row) {
    const Tap tap = own[row];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int n = pixels[i].n;
      const int h = pixels[i].p * layer.stride_h - layer.padding_h + tap.r;
      const int w = pixels[i].q * layer.stride_w - layer.padding_w + tap.s;
      // Lane by lane: some pixels of a warp may have a ghost cell.
      const bool exists =
          tap.c < layer.C && n < layer.N && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      share.cells[row][i] = exists ? input[in.index(n, tap.c, h, w)] : 0.0f;
    }
  }
}

// Preconditions: blocks of kLanes x kWarps threads; for each group of pixels, of all images together,
// as many as groups of filters are needed to cover K.
template <int kColumns, int kFilters>
__global__ void __launch_bounds__(kLanes* kWarps, blocks_per_sm(kColumns))
    pixels_kernel(const float* input,    // cells [n][c][h][w], where `in` says
                  const float* filters,  // [K][C][R][S]
                  float* output,         // [n][k][p][q], where `out` says
                  const LayerNumbers layer, const Layout in, const Layout out) {
  __shared__ Tile<kColumns, kFilters> tile;

  // Blocks that follow each other share their cells, then most of them: the L2 cache holds these.
  const int filter_groups = (layer.K - 1) / (kWarps * kFilters) + 1;
  const int first_k = blockIdx.x % filter_groups * (kWarps * kFilters);
  const int first_pixel = blockIdx.x / filter_groups * (kColumns * kLanes);

  Pixel pixels[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    pixels[i] = pixel_at(layer, first_pixel + i * kLanes + threadIdx.x);
  }
  const int own_k = first_k + threadIdx.y * kFilters;
  const bool has_filters = own_k < layer.K;  // else the warp only loads

  Tap own[kTaps / kWarps];
  for (int row = 0; row < kTaps / kWarps; ++row) {
    own[row] = tap_at(layer, row * kWarps + threadIdx.y);
  }
  const Tap step = tap_at(layer, kTaps);
  Share<kColumns, kFilters> share;
  load_cells(share, input, layer, in, pixels, own);
  load_taps(share, filters, layer, first_k, 0);

  float sums[kFilters][kColumns] = {};
  for (int first = 0; first < layer.C * layer.R * layer.S; first += kTaps) {
    store(share, tile);
    __syncthreads();  // the tile is complete
    // The next one's share, under way while this one is in use; beyond the last tap, zeros.
    for (Tap& tap : own) tap = advanced(layer, tap, step);
    load_cells(share, input, layer, in, pixels, own);
    load_taps(share, filters, layer, first_k, first + kTaps);
    if (has_filters) multiply(tile, sums);
    __syncthreads();  // nobody needs it any more
  }

#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    const int k = own_k + f;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const auto [n, p, q] = pixels[i];
      if (k < layer.K && n < layer.N) output[out.index(n, k, p, q)] = sums[f][i];
    }
  }
}

template <bool kChwn>
static int launch(const LayerCall& c) {
  return launch_blocks(
      c, kChwn, c.layer.N * c.layer.P * c.layer.Q, 1,
      [](auto columns, auto filters) { return pixels_kernel<columns.value, filters.value>; });
}

template <bool kChwn>
static LayerKernel pixels(const char* description) {
  return {.description = description,
          .launch = launch<kChwn>,
          .chwn = kChwn,
          .tiles = {{.K = 4 * kWarps, .cells = kLanes},
                    {.K = 8 * kWarps, .cells = 2 * kLanes},
                    {.K = 16 * kWarps, .cells = 4 * kLanes}},
          .multiplies_ghosts = true};
}

LayerKernel pixels_nchw() { return pixels<false>("pixels across the lanes, maps in NCHW"); }

LayerKernel pixels_chwn() { return pixels<true>("pixels across the lanes, maps in CHWN"); }

}  // namespace halo::layout_convolution
