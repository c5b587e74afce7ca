// Stage 06, step 4: the tile and its halo in shared memory, the filters in constant memory.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero.
// Changed    since 3 stride_padding: for each channel the block loads the cells that its 8 x 32
//            outputs need, the halo with them, and computes from there. Ghost cells are written as
//            zeros once, so that no tap has to check where it lies. The filters lie in constant
//            memory, which holds 16,384 floats: larger ones are refused.
// Must cost  per block and channel, for a 3 x 3 filter: 10 rows of 34 cells by 20 requests (step 3:
//            72 requests for cells and as many for taps); per warp and tap 1 shared read, without
//            conflict if the stride is odd, and 1 constant read; 2 barriers.
// Run        ./halo run 06 --variant tile_constant
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

// Shared memory for a block, in floats. 48 KB is what every GPU gives by default, and leaves
// room for four blocks on an SM with 228 KB. More can be asked for, and then fewer blocks fit.
constexpr int kSharedFloats = 48 * 1024 / 4;

constexpr int kConstantFloats = 64 * 1024 / 4;  // all of constant memory

__constant__ float filters_constant[kConstantFloats];  // [K][C][R][S]

// Preconditions: blocks of kTileColumns x kTileRows threads, for each of N * K planes as many as tiles
// are needed to cover P x Q; K * C * R * S is at most kConstantFloats, and set_filters has had them;
// dynamic shared memory holds the tile.
__global__ void tile_constant_kernel(const float* input,  // [N][C][H][W]
                                     float* output,       // [N][K][P][Q]
                                     const LayerNumbers layer) {
  const int tile_rows = (kTileRows - 1) * layer.stride_h + layer.R;
  const int tile_columns = (kTileColumns - 1) * layer.stride_w + layer.S;
  extern __shared__ float tile[];  // [tile_rows][tile_columns], of the current channel

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
  // The place of tile[0][0] in the image; beyond its edges where there is padding.
  const int first_h = first_p * layer.stride_h - layer.padding_h;
  const int first_w = first_q * layer.stride_w - layer.padding_w;

  float sum = 0.0f;
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;              // [H][W]
    const float* filter = filters_constant + (k * layer.C + c) * layer.R * layer.S;  // [R][S]
    // Each warp loads whole rows. The end of a row keeps only a few lanes busy (2 of 32 for a 3 x 3
    // filter); numbering the cells of the tile through would keep all busy, at the price of a
    // division for each cell.
    // Not unrolled: nvcc would take four columns per turn, and lanes that have one more than
    // the others would diverge, with requests of their own.
    // [doc:tile]
    for (int row = threadIdx.y; row < tile_rows; row += kTileRows) {
      const int h = first_h + row;
#pragma unroll 1
      for (int column = threadIdx.x; column < tile_columns; column += kTileColumns) {
        const int w = first_w + column;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        tile[row * tile_columns + column] = exists ? image[h * layer.W + w] : 0.0f;
      }
    }
    __syncthreads();  // the tile is complete
    // [/doc:tile]

    if (has_output) {
      for (int r = 0; r < layer.R; ++r) {
        for (int s = 0; s < layer.S; ++s) {
          const int row = threadIdx.y * layer.stride_h + r;
          const int column = threadIdx.x * layer.stride_w + s;
          sum += tile[row * tile_columns + column] * filter[r * layer.S + s];
        }
      }
    }
    __syncthreads();  // nobody needs it any more: the next channel may overwrite it
  }
  if (has_output) output[(plane * layer.P + p) * layer.Q + q] = sum;
}

static int set_filters(const float* filters, const LayerNumbers& layer) {
  const size_t count = static_cast<size_t>(layer.K) * layer.C * layer.R * layer.S;
  return cudaMemcpyToSymbol(filters_constant, filters, count * sizeof(float));
}

static long long tile_floats(const LayerNumbers& layer) {
  return ((kTileRows - 1LL) * layer.stride_h + layer.R) *
         ((kTileColumns - 1LL) * layer.stride_w + layer.S);
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int blocks = tiles_across * tiles_down * layer.N * layer.K;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const size_t bytes = tile_floats(layer) * sizeof(float);
  tile_constant_kernel<<<blocks, threads, bytes>>>(c.input, c.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (1LL * layer.K * layer.C * layer.R * layer.S > kConstantFloats) {
    return "its filters must fit into 64 KB of constant memory, 16384 floats";
  }
  if (tile_floats(layer) > kSharedFloats) return "its tile must fit into 48 KB of shared memory";
  return nullptr;
}

LayerKernel tile_constant() {
  return {.description = "tile and halo in shared memory, filters in constant memory",
          .launch = launch,
          .set_filters = set_filters,
          .refuses = refuses,
          .tiles = {{.P = kTileRows, .Q = kTileColumns}},
          .multiplies_ghosts = true};
}

}  // namespace halo::conv2d_direct
