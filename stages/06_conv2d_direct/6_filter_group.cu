// Stage 06, step 6: eight filters for each tile.
//
// Computes   as step 3.
// Changed    since 5 tile_shared: a block applies eight filters to the tile that it has loaded, and a
//            thread keeps eight sums. The image is read K/8 times instead of K times.
// Must cost  per block and channel one tile, and taps by 8 * ceil(R*S / 32) requests; per warp and
//            tap 1 shared read for the cells and 8 for the taps: 9 for 8 products, where step 5
//            needs 16.
// Run        halo run 06 --variant filter_group
#include "stages/06_conv2d_direct/conv2d_direct.hpp"

namespace halo::conv2d_direct {

// [doc:kernel]
// Preconditions: as step 5, with the taps of kFilterGroup filters; for each image and each group of
// filters, of which the last may be short, as many blocks as tiles are needed to cover P x Q.
__global__ void filter_group_kernel(const float* input,    // [N][C][H][W]
                                    const float* filters,  // [K][C][R][S]
                                    float* output,         // [N][K][P][Q]
                                    const Layer layer, const Piece piece) {
  extern __shared__ float cells[];  // [tile_rows][tile_columns], then the taps

  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  const int tile = blockIdx.x % (tiles_across * tiles_down);
  const int image_and_group = blockIdx.x / (tiles_across * tiles_down);
  const int first_k = image_and_group % groups * kFilterGroup;
  const int n = image_and_group / groups;
  const int first_p = tile / tiles_across * kTileRows;
  const int first_q = tile % tiles_across * kTileColumns;
  const int p = first_p + threadIdx.y;
  const int q = first_q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;

  float sums[kFilterGroup] = {};
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;  // [H][W]
    // One turn of these two loops, unless the filters are large.
    for (int first_r = 0; first_r < layer.R; first_r += piece.rows) {
      for (int first_s = 0; first_s < layer.S; first_s += piece.columns) {
        const int rows = min(piece.rows, layer.R - first_r);
        const int columns = min(piece.columns, layer.S - first_s);
        const int tile_rows = (kTileRows - 1) * layer.stride_h + rows;
        const int tile_columns = (kTileColumns - 1) * layer.stride_w + columns;
        float* taps = cells + tile_rows * tile_columns;  // [kFilterGroup][rows][columns]
        // The place of cells[0][0] in the image; beyond its edges where there is padding.
        const int first_h = first_p * layer.stride_h - layer.padding_h + first_r;
        const int first_w = first_q * layer.stride_w - layer.padding_w + first_s;

        for (int row = threadIdx.y; row < tile_rows; row += kTileRows) {
          const int h = first_h + row;
          for (int column = threadIdx.x; column < tile_columns; column += kTileColumns) {
            const int w = first_w + column;
            const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
            cells[row * tile_columns + column] = exists ? image[h * layer.W + w] : 0.0f;
          }
        }
        // Each warp loads one filter's run; those of a short last group are not loaded, and not used.
        for (int g = threadIdx.y; g < kFilterGroup && first_k + g < layer.K; g += kTileRows) {
          const float* filter = filters + ((first_k + g) * layer.C + c) * layer.R * layer.S;
          for (int i = threadIdx.x; i < rows * columns; i += kTileColumns) {
            taps[g * rows * columns + i] = filter[first_r * layer.S + first_s + i];
          }
        }
        __syncthreads();  // tile and taps are complete

        if (has_output) {
          for (int r = 0; r < rows; ++r) {
            for (int s = 0; s < columns; ++s) {
              const int row = threadIdx.y * layer.stride_h + r;
              const int column = threadIdx.x * layer.stride_w + s;
              const float cell = cells[row * tile_columns + column];
#pragma unroll  // so that the sums are registers
              for (int g = 0; g < kFilterGroup; ++g) {
                if (first_k + g >= layer.K) break;
                sums[g] += cell * taps[(g * rows + r) * columns + s];
              }
            }
          }
        }
        __syncthreads();  // nobody needs them any more
      }
    }
  }
  if (!has_output) return;
  for (int g = 0; g < kFilterGroup && first_k + g < layer.K; ++g) {
    output[((n * layer.K + first_k + g) * layer.P + p) * layer.Q + q] = sums[g];
  }
}
// [/doc:kernel]

cudaError_t filter_group(const float* input, const float* filters, float* output,
                         const Layer& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int groups = (layer.K - 1) / kFilterGroup + 1;
  const int blocks = tiles_across * tiles_down * layer.N * groups;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const Piece piece = largest_piece(layer, kFilterGroup);
  const size_t floats = tile_floats(layer, piece) + kFilterGroup * piece.rows * piece.columns;
  filter_group_kernel<<<blocks, threads, floats * sizeof(float)>>>(input, filters, output, layer,
                                                                   piece);
  return cudaGetLastError();
}

}  // namespace halo::conv2d_direct
