// Stage 06, step 6: eight filters for each tile.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero.
// Changed    since 5 tile_shared: a block applies eight filters to the tile that it has loaded, and a
//            thread keeps eight sums. The image is read K/8 times instead of K times.
// Must cost  per block and channel one tile, and taps by 8 * ceil(R*S / 32) requests; per warp and
//            tap 1 shared read for the cells and 8 for the taps: 9 for 8 products, where step 5
//            needs 16.
// Run        ./halo run 06 --variant filter_group
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

constexpr int kSharedFloats = 48 * 1024 / 4;  // what every GPU gives a block by default

// With more of them a tile is loaded less often; but each is a sum in every thread's registers, and
// with fewer filters than that in the layer they are idle.
constexpr int kFilterGroup = 8;

// Preconditions: blocks of kTileColumns x kTileRows threads, for each image and each group of filters,
// of which the last may be short, as many as tiles are needed to cover P x Q; dynamic shared memory
// holds the tile and the taps of kFilterGroup filters' channel.
__global__ void filter_group_kernel(const float* input,    // [N][C][H][W]
                                    const float* filters,  // [K][C][R][S]
                                    float* output,         // [N][K][P][Q]
                                    const LayerNumbers layer) {
  const int tile_rows = (kTileRows - 1) * layer.stride_h + layer.R;
  const int tile_columns = (kTileColumns - 1) * layer.stride_w + layer.S;
  extern __shared__ float tile[];  // [tile_rows][tile_columns], of the current channel
  float* taps = tile + tile_rows * tile_columns;  // [kFilterGroup][R][S], the same

  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int tile_number = blockIdx.x % (tiles_across * tiles_down);
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  const int image_and_group = blockIdx.x / (tiles_across * tiles_down);
  const int first_k = image_and_group % groups * kFilterGroup;
  const int n = image_and_group / groups;
  const int first_p = tile_number / tiles_across * kTileRows;
  const int first_q = tile_number % tiles_across * kTileColumns;
  const int p = first_p + threadIdx.y;
  const int q = first_q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;
  // The place of tile[0][0] in the image; beyond its edges where there is padding.
  const int first_h = first_p * layer.stride_h - layer.padding_h;
  const int first_w = first_q * layer.stride_w - layer.padding_w;

  float sums[kFilterGroup] = {};
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;  // [H][W]
    for (int row = threadIdx.y; row < tile_rows; row += kTileRows) {
      const int h = first_h + row;
#pragma unroll 1
      for (int column = threadIdx.x; column < tile_columns; column += kTileColumns) {
        const int w = first_w + column;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        tile[row * tile_columns + column] = exists ? image[h * layer.W + w] : 0.0f;
      }
    }
    // Each warp loads one filter's taps; those of a short last group are not loaded, and not used.
    for (int g = threadIdx.y; g < kFilterGroup && first_k + g < layer.K; g += kTileRows) {
      const float* filter = filters + ((first_k + g) * layer.C + c) * layer.R * layer.S;  // [R][S]
#pragma unroll 1
      for (int i = threadIdx.x; i < layer.R * layer.S; i += kTileColumns) {
        taps[g * layer.R * layer.S + i] = filter[i];
      }
    }
    __syncthreads();  // tile and taps are complete

    if (has_output) {
      for (int r = 0; r < layer.R; ++r) {
        for (int s = 0; s < layer.S; ++s) {
          const int row = threadIdx.y * layer.stride_h + r;
          const int column = threadIdx.x * layer.stride_w + s;
          // [doc:sums]
          const float cell = tile[row * tile_columns + column];
#pragma unroll  // so that the sums are registers
          for (int g = 0; g < kFilterGroup; ++g) {
            if (first_k + g >= layer.K) break;
            sums[g] += cell * taps[(g * layer.R + r) * layer.S + s];
          }
          // [/doc:sums]
        }
      }
    }
    __syncthreads();  // nobody needs them any more: the next channel may overwrite them
  }
  if (!has_output) return;
  for (int g = 0; g < kFilterGroup && first_k + g < layer.K; ++g) {
    output[((n * layer.K + first_k + g) * layer.P + p) * layer.Q + q] = sums[g];
  }
}

// The tile and the taps.
static long long shared_floats(const LayerNumbers& layer) {
  return ((kTileRows - 1LL) * layer.stride_h + layer.R) *
             ((kTileColumns - 1LL) * layer.stride_w + layer.S) +
         1LL * kFilterGroup * layer.R * layer.S;
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  const int blocks = tiles_across * tiles_down * layer.N * groups;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const size_t bytes = shared_floats(layer) * sizeof(float);
  const auto stream = static_cast<cudaStream_t>(c.stream);
  filter_group_kernel<<<blocks, threads, bytes, stream>>>(c.input, c.filters, c.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (shared_floats(layer) <= kSharedFloats) return nullptr;
  return "its tile and eight filters' taps must fit into 48 KB of shared memory";
}

LayerKernel filter_group() {
  return {.description = "eight filters for each tile that is loaded",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.K = kFilterGroup, .P = kTileRows, .Q = kTileColumns}},
          .multiplies_ghosts = true};
}

}  // namespace halo::conv2d_direct
