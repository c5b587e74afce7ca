// Stage 10, step 1: images across the lanes of a warp, as in cuda-convnet.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero; input and output are in either layout, NCHW or CHWN.
// Changed    since stage 06: a block has one pixel of up to 128 images and up to 64 filters, and a
//            thread keeps up to 4 x 16 sums. Lanes are neighbouring images, neighbours in CHWN.
// Must cost  per block and tap one request for each 32 images, of 4 sectors in CHWN if N is a multiple
//            of 8 (5 at most), and of 32 in NCHW, where images are C*H*W floats apart.
// Run        ./halo run 10_layout_convolution --variant images_chwn   (and images_nchw)
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/10_layout_convolution/tile.cuh"

namespace halo::layout_convolution {

// Loads the cells of the warp's taps of pixel [p][q]: one cell of the lane's images.
template <int kColumns, int kFilters>
__device__ void load_cells(Share<kColumns, kFilters>& share, const float* input,
                           const LayerNumbers& layer, const Layout& in, int first_n, int p, int q,
                           const Tap* own) {
#pragma unroll
  for (int row = 0; row < kTaps / kWarps; ++row) {
    const Tap tap = own[row];
    // [doc:cells]
    const int h = p * layer.stride_h - layer.padding_h + tap.r;
    const int w = q * layer.stride_w - layer.padding_w + tap.s;
    // The same for the whole warp: where one image has a ghost cell, all have.
    const bool exists = tap.c < layer.C && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int n = first_n + i * kLanes + threadIdx.x;
      share.cells[row][i] = exists && n < layer.N ? input[in.index(n, tap.c, h, w)] : 0.0f;
    }
    // [/doc:cells]
  }
}

// Preconditions: blocks of kLanes x kWarps threads; for each group of images and each pixel as many as
// groups of filters are needed to cover K.
template <int kColumns, int kFilters>
__global__ void __launch_bounds__(kLanes* kWarps, blocks_per_sm(kColumns))
    images_kernel(const float* input,    // cells [n][c][h][w], where `in` says
                  const float* filters,  // [K][C][R][S]
                  float* output,         // [n][k][p][q], where `out` says
                  const LayerNumbers layer, const Layout in, const Layout out) {
  __shared__ Tile<kColumns, kFilters> tile;

  // Blocks that follow each other share their cells, then most of them: the L2 cache holds these.
  const int filter_groups = (layer.K - 1) / (kWarps * kFilters) + 1;
  const int first_k = blockIdx.x % filter_groups * (kWarps * kFilters);
  const int pixel = blockIdx.x / filter_groups % (layer.P * layer.Q);
  const int first_n = blockIdx.x / filter_groups / (layer.P * layer.Q) * (kColumns * kLanes);
  const int p = pixel / layer.Q;
  const int q = pixel % layer.Q;

  const int own_k = first_k + threadIdx.y * kFilters;
  const bool has_filters = own_k < layer.K;  // else the warp only loads

  Tap own[kTaps / kWarps];
  for (int row = 0; row < kTaps / kWarps; ++row) {
    own[row] = tap_at(layer, row * kWarps + threadIdx.y);
  }
  const Tap step = tap_at(layer, kTaps);
  Share<kColumns, kFilters> share;
  load_cells(share, input, layer, in, first_n, p, q, own);
  load_taps(share, filters, layer, first_k, 0);

  // [doc:loop]
  float sums[kFilters][kColumns] = {};
  for (int first = 0; first < layer.C * layer.R * layer.S; first += kTaps) {
    store(share, tile);
    __syncthreads();  // the tile is complete
    // The next one's share, under way while this one is in use; beyond the last tap, zeros.
    for (Tap& tap : own) tap = advanced(layer, tap, step);
    load_cells(share, input, layer, in, first_n, p, q, own);
    load_taps(share, filters, layer, first_k, first + kTaps);
    if (has_filters) multiply(tile, sums);
    __syncthreads();  // nobody needs it any more
  }
  // [/doc:loop]

#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    const int k = own_k + f;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int n = first_n + i * kLanes + threadIdx.x;
      if (k < layer.K && n < layer.N) output[out.index(n, k, p, q)] = sums[f][i];
    }
  }
}

template <bool kChwn>
static int launch(const LayerCall& c) {
  return launch_blocks(c, kChwn, c.layer.N, c.layer.P * c.layer.Q, [](auto columns, auto filters) {
    return images_kernel<columns.value, filters.value>;
  });
}

template <bool kChwn>
static LayerKernel images(const char* description) {
  return {.description = description,
          .launch = launch<kChwn>,
          .chwn = kChwn,
          .tiles = {{.N = kLanes, .K = 4 * kWarps},
                    {.N = 2 * kLanes, .K = 8 * kWarps},
                    {.N = 4 * kLanes, .K = 16 * kWarps}},
          .multiplies_ghosts = true};
}

LayerKernel images_chwn() { return images<true>("images across the lanes, maps in CHWN"); }

LayerKernel images_nchw() { return images<false>("images across the lanes, maps in NCHW"); }

}  // namespace halo::layout_convolution
