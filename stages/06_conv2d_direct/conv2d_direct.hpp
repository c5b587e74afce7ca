// Stage 06: direct 2D convolution, from one channel to a tile in shared memory.
#pragma once

#include <cuda_runtime.h>

namespace halo::conv2d_direct {

// The numbers of a layer, with the letters of docs/notation.md. P and Q follow from the others:
//   P = (H + 2 * padding_h - R) / stride_h + 1,   Q = (W + 2 * padding_w - S) / stride_w + 1.
struct Layer {
  int N, C, H, W;            // images, their channels, rows, columns
  int K, R, S;               // filters, their rows, columns
  int P, Q;                  // rows and columns of the output
  int stride_h, stride_w;    // down, across
  int padding_h, padding_w;  // ghost cells on each side
};

// A block has 8 rows of 32 threads and computes as many outputs of one plane. A warp is one row of
// outputs: its reads and its writes are runs of neighbours, and the ends of a row of the image are
// only ever met at the ends of a warp. The price is paid on narrow maps: with Q = 7, 25 of 32 lanes
// have nothing to do. 16 x 16 threads would idle less there and need a smaller halo (18 x 18 cells
// against 10 x 34 for a 3 x 3 filter), but each request would be two runs in two rows.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

// What all launches below compute, as far as each takes the layer:
//   output[n][k][p][q] = sum over c, r, s of
//       input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//       * filters[k][c][r][s],
// ghost cells are zero. Device memory: input[N][C][H][W], filters[K][C][R][S], output[N][K][P][Q],
// none of more than 2^31 - 4,097 elements; H + 2 * padding_h and W + 2 * padding_w are below 2^31.
// They return the launch's error and do not wait for the kernel.

// N = C = K = 1, stride 1, no padding.
cudaError_t one_channel(const float* input, const float* filters, float* output,
                        const Layer& layer);

// Stride 1, no padding.
cudaError_t channels(const float* input, const float* filters, float* output, const Layer& layer);

// Any layer.
cudaError_t stride_padding(const float* input, const float* filters, float* output,
                           const Layer& layer);

// Shared memory for a block's tile, in floats. 48 KB is what every GPU gives without being asked, and
// leaves room for four blocks on an SM with 228 KB. More can be asked for, and then fewer blocks fit.
constexpr int kSharedFloats = 48 * 1024 / 4;
// All of constant memory, in floats.
constexpr int kConstantFloats = 64 * 1024 / 4;

// Filters of at most kConstantFloats together, given to set_filters before; a tile,
// (7 * stride_h + R) * (31 * stride_w + S), of at most kSharedFloats.
cudaError_t tile_constant(const float* input, float* output, const Layer& layer);
cudaError_t set_filters(const float* filters, int count);  // from host memory

// How much of a filter's channel is worked through at a time: with the tile of input that it needs it
// fits into shared memory. All of R x S in most layers; else some whole rows; else a part of one row:
// always one run in memory.
struct Piece {
  int rows, columns;  // taps
};
// Cells of the tile that a block's outputs need for a piece.
inline long long tile_floats(const Layer& layer, Piece piece) {
  return ((kTileRows - 1LL) * layer.stride_h + piece.rows) *
         ((kTileColumns - 1LL) * layer.stride_w + piece.columns);
}
// For blocks that apply `filters` filters to a tile. 0 x 0 if not even single taps fit, which only
// strides of 8 and more can bring about.
Piece largest_piece(const Layer& layer, int filters);

// Any layer that has a piece for one filter.
cudaError_t tile_shared(const float* input, const float* filters, float* output,
                        const Layer& layer);

// Any layer that has a piece for kFilterGroup filters, which a block applies to each tile that it
// loads. With more of them a tile is loaded less often; but each is a sum in every thread's registers,
// and with fewer filters than that in the layer they are idle.
constexpr int kFilterGroup = 8;
cudaError_t filter_group(const float* input, const float* filters, float* output,
                         const Layer& layer);

}  // namespace halo::conv2d_direct
