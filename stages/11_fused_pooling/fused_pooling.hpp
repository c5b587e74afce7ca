// Stage 11: pooling layers in both layouts, and with cells that lie in several windows read once.
#pragma once

#include <cuda_runtime.h>

namespace halo::fused_pooling {

// The numbers of a layer, with the letters of docs/notation.md. P and Q follow from the others and
// from the rounding (common/conv/pooling.hpp): a last window may reach beyond the edge and its
// padding, but each has a cell that exists.
struct Layer {
  int N, C, H, W;            // images, channels, rows, columns
  int R, S;                  // rows and columns of a window
  int P, Q;                  // rows and columns of the output
  int stride_h, stride_w;    // down, across
  int padding_h, padding_w;  // ghost cells on each side
  bool average;              // else the largest cell
};

// What all launches below compute: output [n][c][p][q] is the largest or the average of the cells
//   input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s],  0 <= r < R, 0 <= s < S,
// that exist. A window of -inf has the maximum -inf; a NaN among its cells makes an average NaN, and
// is passed over by a maximum. Device memory: in the layout that the name says, [N][C][H][W] or
// [C][H][W][N], and the output alike; no array of more than 2^31 - 4,097 cells; H + 2 * padding_h and
// W + 2 * padding_w are below 2^31. They return the launch's error and do not wait for the kernel.

// One thread an output. Threads are numbered through in the order of the output.
constexpr int kThreads = 256;
cudaError_t nchw(const float* input, float* output, const Layer& layer);

// One thread an output. A warp is 32 images, a block the same place in kChannels channels. With fewer
// images than 32 lanes idle, and with fewer channels warps: that is what the mapping costs.
constexpr int kImages = 32;
constexpr int kChannels = 4;
cudaError_t chwn(const float* input, float* output, const Layer& layer);

// rows x columns neighbouring outputs a thread: 1, 2 or 4 each way (expansion.hpp chooses). More than one
// only where windows overlap (R > stride_h, S > stride_w).
cudaError_t chwn_reuse(const float* input, float* output, const Layer& layer, int rows,
                       int columns);
cudaError_t nchw_reuse(const float* input, float* output, const Layer& layer, int rows);
// Windows of size x size at strides of 2: for those of the paper's networks there are kernels of their
// own.
inline bool has_windows(const Layer& layer, int size) {
  return layer.R == size && layer.S == size && layer.stride_h == 2 && layer.stride_w == 2;
}

}  // namespace halo::fused_pooling
