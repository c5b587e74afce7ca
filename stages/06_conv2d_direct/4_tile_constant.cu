// Stage 06, step 4: the tile and its halo in shared memory, the filters in constant memory.
//
// Computes   as step 3.
// Changed    since 3 stride_padding: for each channel the block loads the cells that its 8 x 32
//            outputs need, the halo with them, and computes from there. Ghost cells are written as
//            zeros once, so that no tap asks where it lies. The filters lie in constant memory, which
//            holds 16,384 floats: larger ones are refused.
// Must cost  per block and channel, for a 3 x 3 filter: 10 rows of 34 cells by 20 requests (step 3:
//            72 requests for cells and as many for taps); per warp and tap 1 shared read, without
//            conflict if the stride is odd, and 1 constant read; 2 barriers.
// Run        halo run 06 --variant tile_constant
#include "stages/06_conv2d_direct/conv2d_direct.hpp"

namespace halo::conv2d_direct {

// [doc:kernel]
__constant__ float filters_constant[kConstantFloats];  // [K][C][R][S]

// Preconditions: as step 3; K * C * R * S is at most kConstantFloats, and set_filters has had them;
// dynamic shared memory holds the tile.
__global__ void tile_constant_kernel(const float* input,  // [N][C][H][W]
                                     float* output,       // [N][K][P][Q]
                                     const Layer layer) {
  const int tile_rows = (kTileRows - 1) * layer.stride_h + layer.R;
  const int tile_columns = (kTileColumns - 1) * layer.stride_w + layer.S;
  extern __shared__ float cells[];  // [tile_rows][tile_columns], of the current channel

  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int tile = blockIdx.x % (tiles_across * tiles_down);
  const int plane = blockIdx.x / (tiles_across * tiles_down);
  const int k = plane % layer.K;
  const int n = plane / layer.K;
  const int first_p = tile / tiles_across * kTileRows;
  const int first_q = tile % tiles_across * kTileColumns;
  const int p = first_p + threadIdx.y;
  const int q = first_q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;
  // The place of cells[0][0] in the image; beyond its edges where there is padding.
  const int first_h = first_p * layer.stride_h - layer.padding_h;
  const int first_w = first_q * layer.stride_w - layer.padding_w;

  float sum = 0.0f;
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;              // [H][W]
    const float* filter = filters_constant + (k * layer.C + c) * layer.R * layer.S;  // [R][S]
    // Each warp loads whole rows. The end of a row keeps only a few lanes busy (2 of 32 for a 3 x 3
    // filter); numbering the cells of the tile through would keep all busy, at the price of a
    // division for each cell.
    for (int row = threadIdx.y; row < tile_rows; row += kTileRows) {
      const int h = first_h + row;
      for (int column = threadIdx.x; column < tile_columns; column += kTileColumns) {
        const int w = first_w + column;
        const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
        cells[row * tile_columns + column] = exists ? image[h * layer.W + w] : 0.0f;
      }
    }
    __syncthreads();  // the tile is complete

    if (has_output) {
      for (int r = 0; r < layer.R; ++r) {
        for (int s = 0; s < layer.S; ++s) {
          const int row = threadIdx.y * layer.stride_h + r;
          const int column = threadIdx.x * layer.stride_w + s;
          sum += cells[row * tile_columns + column] * filter[r * layer.S + s];
        }
      }
    }
    __syncthreads();  // nobody needs it any more: the next channel may overwrite it
  }
  if (has_output) output[(plane * layer.P + p) * layer.Q + q] = sum;
}
// [/doc:kernel]

cudaError_t set_filters(const float* filters, int count) {
  return cudaMemcpyToSymbol(filters_constant, filters, count * sizeof(float));
}

cudaError_t tile_constant(const float* input, float* output, const Layer& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int blocks = tiles_across * tiles_down * layer.N * layer.K;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const size_t bytes = tile_floats(layer, {layer.R, layer.S}) * sizeof(float);
  tile_constant_kernel<<<blocks, threads, bytes>>>(input, output, layer);
  return cudaGetLastError();
}

}  // namespace halo::conv2d_direct
