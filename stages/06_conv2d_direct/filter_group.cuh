// What steps 6 and 7 of stage 06 share: which outputs a block has, how it loads a tile, and how it leaves its sums.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane, for each of its filters.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

constexpr int kSharedFloats = 48 * 1024 / 4;  // what every GPU gives a block by default

// With more of them a tile is loaded less often; but each is a sum in every thread's registers, and
// with fewer filters than that in the layer they are idle.
constexpr int kFilterGroup = 8;

// The first output of a block.
struct Corner {
  int n, k, p, q;
};

__device__ inline Corner corner_of(const LayerNumbers& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int tile_number = blockIdx.x % (tiles_across * tiles_down);
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  const int image_and_group = blockIdx.x / (tiles_across * tiles_down);
  return {image_and_group / groups, image_and_group % groups * kFilterGroup,
          tile_number / tiles_across * kTileRows, tile_number % tiles_across * kTileColumns};
}

// For each image and each group of filters, of which the last may be short, as many as tiles are needed to cover
// P x Q. Each has an output, so their number fits.
inline int blocks_of(const LayerNumbers& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  return tiles_across * tiles_down * layer.N * groups;
}

// tile[row][column] becomes image[first_h + row][first_w + column], and zero beyond the image's edges.
__device__ inline void load_tile(float* tile,         // [rows][columns], shared
                                 const float* image,  // [H][W]
                                 const LayerNumbers& layer, int rows, int columns, int first_h,
                                 int first_w) {
  for (int row = threadIdx.y; row < rows; row += kTileRows) {
    const int h = first_h + row;
#pragma unroll 1
    for (int column = threadIdx.x; column < columns; column += kTileColumns) {
      const int w = first_w + column;
      const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      tile[row * columns + column] = exists ? image[h * layer.W + w] : 0.0f;
    }
  }
}

// A thread's sums become its outputs [p][q] of the group's filters.
__device__ inline void store(const float (&sums)[kFilterGroup],
                             float* output,  // [N][K][P][Q]
                             const LayerNumbers& layer, Corner corner, int p, int q) {
  for (int g = 0; g < kFilterGroup && corner.k + g < layer.K; ++g) {
    output[((corner.n * layer.K + corner.k + g) * layer.P + p) * layer.Q + q] = sums[g];
  }
}

}  // namespace halo::conv2d_direct
