// Stage 06, step 5: the filter in shared memory as well, in pieces if it is large.
//
// Computes   as step 3.
// Changed    since 4 tile_constant: with the tile the block loads the taps of the current channel, so
//            that the size of all filters together has no limit. A filter that is too large for
//            shared memory is worked through in pieces, each with the tile that it needs.
// Must cost  as step 4, and per block and channel ceil(R*S / 32) requests for taps; a tap is a shared
//            read of 1 wavefront (all lanes read the same) instead of a constant read.
// Run        halo run 06 --variant tile_shared
#include "stages/06_conv2d_direct/conv2d_direct.hpp"

namespace halo::conv2d_direct {

// [doc:kernel]
// Preconditions: as step 3; dynamic shared memory holds the tile and the taps of a piece.
__global__ void tile_shared_kernel(const float* input,    // [N][C][H][W]
                                   const float* filters,  // [K][C][R][S]
                                   float* output,         // [N][K][P][Q]
                                   const Layer layer, const Piece piece) {
  extern __shared__ float cells[];  // [tile_rows][tile_columns], then the taps

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
  const int thread = threadIdx.y * kTileColumns + threadIdx.x;

  float sum = 0.0f;
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;     // [H][W]
    const float* filter = filters + (k * layer.C + c) * layer.R * layer.S;  // [R][S]
    // One turn of these two loops, unless the filter is large.
    for (int first_r = 0; first_r < layer.R; first_r += piece.rows) {
      for (int first_s = 0; first_s < layer.S; first_s += piece.columns) {
        const int rows = min(piece.rows, layer.R - first_r);
        const int columns = min(piece.columns, layer.S - first_s);
        const int tile_rows = (kTileRows - 1) * layer.stride_h + rows;
        const int tile_columns = (kTileColumns - 1) * layer.stride_w + columns;
        float* taps = cells + tile_rows * tile_columns;  // [rows][columns]
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
        // A piece is whole rows or within one row: one run, read by neighbours.
        for (int i = thread; i < rows * columns; i += kTileRows * kTileColumns) {
          taps[i] = filter[first_r * layer.S + first_s + i];
        }
        __syncthreads();  // tile and taps are complete

        if (has_output) {
          for (int r = 0; r < rows; ++r) {
            for (int s = 0; s < columns; ++s) {
              const int row = threadIdx.y * layer.stride_h + r;
              const int column = threadIdx.x * layer.stride_w + s;
              sum += cells[row * tile_columns + column] * taps[r * columns + s];
            }
          }
        }
        __syncthreads();  // nobody needs them any more
      }
    }
  }
  if (has_output) output[(plane * layer.P + p) * layer.Q + q] = sum;
}
// [/doc:kernel]

// [doc:piece]
Piece largest_piece(const Layer& layer, int filters) {
  // All of R x S, or whole rows, or a part of a row: the largest with
  //   (7 * stride_h + rows) * (31 * stride_w + columns) + filters * rows * columns <= kSharedFloats.
  const long long down = static_cast<long long>(kTileRows - 1) * layer.stride_h;
  const long long across = static_cast<long long>(kTileColumns - 1) * layer.stride_w;
  const long long S = layer.S;
  const long long rows = (kSharedFloats - down * (across + S)) / (across + S + filters * S);
  if (rows >= 1) return {rows < layer.R ? static_cast<int>(rows) : layer.R, layer.S};
  const long long columns = (kSharedFloats - (down + 1) * across) / (down + 1 + filters);
  if (columns >= 1) return {1, columns < S ? static_cast<int>(columns) : layer.S};
  return {0, 0};
}
// [/doc:piece]

cudaError_t tile_shared(const float* input, const float* filters, float* output,
                        const Layer& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int blocks = tiles_across * tiles_down * layer.N * layer.K;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  const Piece piece = largest_piece(layer, 1);
  const size_t floats = tile_floats(layer, piece) + piece.rows * piece.columns;
  tile_shared_kernel<<<blocks, threads, floats * sizeof(float)>>>(input, filters, output, layer,
                                                                  piece);
  return cudaGetLastError();
}

}  // namespace halo::conv2d_direct
