// Stage 10, second program: direct convolution with images or pixels across the lanes of a warp, each
// with the maps in either layout.
#pragma once

#include <cuda_runtime.h>

namespace halo::layout_convolution {

// The numbers of a layer, with the letters of docs/notation.md. P and Q follow from the others:
//   P = (H + 2 * padding_h - R) / stride_h + 1,   Q = (W + 2 * padding_w - S) / stride_w + 1.
struct Layer {
  int N, C, H, W;            // images, their channels, rows, columns
  int K, R, S;               // filters, their rows, columns
  int P, Q;                  // rows and columns of the output
  int stride_h, stride_w;    // down, across
  int padding_h, padding_w;  // ghost cells on each side
};

// [doc:layout]
// A layout of maps: how many floats lie between a cell and the next image's, the next channel's, the
// next row's, the next column's. It is all that a kernel knows of the layout, so that the same machine
// code runs on both.
struct Layout {
  int n, c, h, w;

  __host__ __device__ int index(int image, int channel, int row, int column) const {
    return image * n + channel * c + row * h + column * w;
  }
};
// Of arrays [N][channels][rows][columns] and [channels][rows][columns][N].
inline Layout nchw(int channels, int rows, int columns) {
  return {channels * rows * columns, rows * columns, columns, 1};
}
inline Layout chwn(int N, int rows, int columns) { return {1, rows * columns * N, columns * N, N}; }
// [/doc:layout]

// A block is 4 warps. It computes up to 128 columns of outputs, 32 lanes times kColumns a thread, for
// up to 64 filters, 4 warps times kFilters a thread: cuda-convnet2's shape for its usual layer. Each
// thread keeps kColumns x kFilters sums in registers, so that a cell that it has read serves kFilters
// products and a tap kColumns. A column is an image in one kernel and a pixel in the other.
constexpr int kLanes = 32;
constexpr int kWarps = 4;
// Products of every sum between two barriers: cuda-convnet2 takes 4 or 8 channels of one tap, which a
// layer with 3 channels does not have. Here it is 8 taps, on through the channels.
constexpr int kTaps = 8;

// Blocks that an SM must have room for, which limits a thread to 128 registers with 4 columns, to 96
// with 2 and to 64 with 1: the fewer sums wait for each other, the more warps have to.
constexpr int blocks_per_sm(int columns) { return columns == 1 ? 6 : 4; }

// As many columns a thread as there are for it: 4, 2 or 1.
inline int columns_per_thread(int columns) {
  return columns >= 4 * kLanes ? 4 : columns >= 2 * kLanes ? 2 : 1;
}
// As few filters a thread as let a block have them all: 4, 8, or 16 and perhaps several blocks.
inline int filters_per_thread(int K) { return K <= 4 * kWarps ? 4 : K <= 8 * kWarps ? 8 : 16; }

// Both compute, for any layer,
//   output[n][k][p][q] = sum over c, r, s of
//       input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//       * filters[k][c][r][s],
// where ghost cells are zero. Device memory: N x C x H x W cells in the layout `in`, filters
// [K][C][R][S], N x K x P x Q outputs in the layout `out`, no array of more than 2^31 - 4,097 elements;
// H + 2 * padding_h and W + 2 * padding_w are below 2^31. They return the launch's error and do not
// wait for the kernel.

// Columns are images: a block has one pixel [p][q] of them.
cudaError_t images_across_lanes(const float* input, const float* filters, float* output,
                                const Layer& layer, const Layout& in, const Layout& out);
// Columns are pixels: all of an image, row after row, then the next image's.
cudaError_t pixels_across_lanes(const float* input, const float* filters, float* output,
                                const Layer& layer, const Layout& in, const Layout& out);

}  // namespace halo::layout_convolution
