// Stage 13, step 2: a fully connected layer as a product of two matrices, tile by tile.
//
// Computes   output[n][k] = sum over f of input[n][f] * filters[k][f], in NCHW ([N][F] and [N][K]) or in
//            CHWN ([F][N] and [K][N]): the layout turns input and output over, the sums stay.
// Changed    since the convolutions: no window slides, so a filter's tap meets one cell of each image and
//            values are reused across images only: each block reads its 64 filters once for 64 images.
// Must cost  input and filters once for every 64 of the other. With few images that is no use: a batch of
//            1 leaves 63 of 64 rows of the tile empty. Step 3 is for those.
// Run        ./halo run 13 --network lenet --batch 128
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "stages/13_network/matrix_tile.cuh"

namespace halo::network {

// Preconditions: blocks of kTileSide * kTileSide threads; block b has tile b % (tiles of images) of the
// images and tile b / (tiles of images) of the outputs.
template <bool kImagesFastest>                      // false: NCHW, true: CHWN
__global__ void tiled_kernel(const float* input,    // [N][F] or [F][N]
                             const float* filters,  // [K][F]
                             float* output,         // [N][K] or [K][N]
                             const float* bias,     // [K], or null
                             bool relu, int N, int F, int K) {
  wait_for_launches_before();
  __shared__ float images_tile[kTileStep][kTilePitch];   // [feature][image]
  __shared__ float filters_tile[kTileStep][kTilePitch];  // [feature][output]
  const int image_tiles = (N - 1) / kTile + 1;
  const int first_n = blockIdx.x % image_tiles * kTile;
  const int first_k = blockIdx.x / image_tiles * kTile;

  // Threads with neighbouring x write neighbours in memory: outputs in NCHW, images in CHWN.
  const int across = threadIdx.x % kTileSide;
  const int down = threadIdx.x / kTileSide;
  const int image = kImagesFastest ? across : down;
  const int out = kImagesFastest ? down : across;

  float sum[4][4] = {};  // [image][output], 16 apart: a warp then reads runs of neighbours
  for (int first_f = 0; first_f < F; first_f += kTileStep) {
    if (kImagesFastest) {
      load_columns(images_tile, input, first_n, N, first_f, F);
    } else {
      load_rows(images_tile, input, first_n, N, first_f, F);
    }
    load_rows(filters_tile, filters, first_k, K, first_f, F);
    __syncthreads();
    for (int f = 0; f < kTileStep; ++f) {
      float cell[4], tap[4];
      for (int i = 0; i < 4; ++i) cell[i] = images_tile[f][image + i * kTileSide];
      for (int j = 0; j < 4; ++j) tap[j] = filters_tile[f][out + j * kTileSide];
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += cell[i] * tap[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int n = first_n + image + i * kTileSide;
      const int k = first_k + out + j * kTileSide;
      if (n >= N || k >= K) continue;
      const float value = sum[i][j] + (bias != nullptr ? bias[k] : 0.0f);
      // Not fmaxf, which turns a NaN into 0.
      output[kImagesFastest ? k * N + n : n * K + k] = relu && value < 0.0f ? 0.0f : value;
    }
  }
}

template <bool kImagesFastest>
static int launch(const LayerCall& c) {
  const int N = c.layer.N;
  const int F = c.layer.C * c.layer.R * c.layer.S;
  const int K = c.layer.K;
  const int blocks = ((N - 1) / kTile + 1) * ((K - 1) / kTile + 1);
  return launch_overlapping(c.overlaps, tiled_kernel<kImagesFastest>, blocks, kTileSide * kTileSide,
                            0, static_cast<cudaStream_t>(c.stream), c.input, c.filters, c.output,
                            c.bias, c.relu, N, F, K);
}

// It is made for filters that cover the whole map.
static const char* refuses(const LayerNumbers& layer) {
  const bool covers = layer.R == layer.H && layer.S == layer.W;
  if (covers && layer.padding_h == 0 && layer.padding_w == 0) return nullptr;
  return "it is made for filters that cover the whole map";
}

template <bool kImagesFastest>
static LayerKernel tiled(const char* description) {
  return {.description = description,
          .launch = launch<kImagesFastest>,
          .refuses = refuses,
          .can_overlap = true,
          .adds_bias = true,
          .chwn = kImagesFastest,
          .tiles = {{.N = kTile, .K = kTile}}};
}

LayerKernel tiled_nchw() {
  return tiled<false>("fully connected: tiles of 64 images x 64 outputs");
}

LayerKernel tiled_chwn() { return tiled<true>("the same in CHWN"); }

}  // namespace halo::network
