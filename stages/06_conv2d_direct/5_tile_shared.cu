// Stage 06, step 5: the filter in shared memory as well.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero.
// Changed    since 4 tile_constant: with the tile the block loads the taps of the current channel, so
//            that the size of all filters together has no limit.
// Must cost  as step 4, and per block and channel ceil(R*S / 32) requests for taps; a tap is a shared
//            read of 1 wavefront (all lanes read the same) instead of a constant read.
// Run        ./halo run 06 --variant tile_shared
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

constexpr int kSharedFloats = 48 * 1024 / 4;  // what every GPU gives a block by default

// Preconditions: blocks of kTileColumns x kTileRows threads, for each of N * K planes as many as tiles
// are needed to cover P x Q; dynamic shared memory holds the tile and the taps of a
// filter's channel.
__global__ void tile_shared_kernel(const float* input,    // [N][C][H][W]
                                   const float* filters,  // [K][C][R][S]
                                   float* output,         // [N][K][P][Q]
                                   const LayerNumbers layer) {
  const int tile_rows = (kTileRows - 1) * layer.stride_h + layer.R;
  const int tile_columns = (kTileColumns - 1) * layer.stride_w + layer.S;
  extern __shared__ float tile[];  // [tile_rows][tile_columns], of the current channel
  float* taps = tile + tile_rows * tile_columns;  // [R][S], of the current channel

  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int tile_number = blockIdx.x % (tiles_across * tiles_down);
  const int plane = blockIdx.x / (tiles_across * tiles_down);
  const int k = plane % layer.K;
  const int n = plane / layer.K;
  const int first_p = tile_number / tiles_across * kTileRows;
  const int first_q = tile_number % tiles_across * kTileColumns;
  const int p = first_p + threadIdx.y;
  const int q = first_q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;
  const int thread = threadIdx.y * kTileColumns + threadIdx.x;
  // The place of tile[0][0] in the image; beyond its edges where there is padding.
  const int first_h = first_p * layer.stride_h - layer.padding_h;
  const int first_w = first_q * layer.stride_w - layer.padding_w;

  float sum = 0.0f;
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;     // [H][W]
    const float* filter = filters + (k * layer.C + c) * layer.R * layer.S;  // [R][S]
    for (int row = threadIdx.y; row < tile_rows; row += kTileRows) {
      const int h = first_h + row;
#pragma unroll 1
      for (int column = threadIdx.x; column < tile_columns; column += kTileColumns) {
        const int w = first_w + column;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        tile[row * tile_columns + column] = exists ? image[h * layer.W + w] : 0.0f;
      }
    }
#pragma unroll 1
    for (int i = thread; i < layer.R * layer.S; i += kTileRows * kTileColumns) taps[i] = filter[i];
    __syncthreads();  // tile and taps are complete

    if (has_output) {
      for (int r = 0; r < layer.R; ++r) {
        for (int s = 0; s < layer.S; ++s) {
          const int row = threadIdx.y * layer.stride_h + r;
          const int column = threadIdx.x * layer.stride_w + s;
          sum += tile[row * tile_columns + column] * taps[r * layer.S + s];
        }
      }
    }
    __syncthreads();  // nobody needs them any more: the next channel may overwrite them
  }
  if (has_output) output[(plane * layer.P + p) * layer.Q + q] = sum;
}

// The tile and the taps.
static long long shared_floats(const LayerNumbers& layer) {
  return ((kTileRows - 1LL) * layer.stride_h + layer.R) *
             ((kTileColumns - 1LL) * layer.stride_w + layer.S) +
         1LL * layer.R * layer.S;
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int blocks = tiles_across * tiles_down * layer.N * layer.K;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const size_t bytes = shared_floats(layer) * sizeof(float);
  tile_shared_kernel<<<blocks, threads, bytes>>>(c.input, c.filters, c.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (shared_floats(layer) <= kSharedFloats) return nullptr;
  return "its tile and a filter's taps must fit into 48 KB of shared memory";
}

LayerKernel tile_shared() {
  return {.description = "tile and taps in shared memory",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.P = kTileRows, .Q = kTileColumns}},
          .multiplies_ghosts = true};
}

}  // namespace halo::conv2d_direct
