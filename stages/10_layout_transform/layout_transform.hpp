// Stage 10: images from one layout into the other.
#pragma once

#include <cuda_runtime.h>

namespace halo::layout_transform {

// A batch as a transform sees it. A cell is a place in an image, [c][h][w], so there are C * H * W of
// them, and that is all that matters of the three: neighbours in either layout stay neighbours.
//   CHWN is a matrix [cells][N], NCHW is [N][cells], and each is the other transposed.
struct Batch {
  int N;      // images
  int cells;  // C * H * W of each; N * cells is at most 2^31 - 4097
};

enum class To { nchw, chwn };  // the layout of the output; the input has the other one

// A tile is 32 cells high, and 32 images or 32 pairs of images wide: one for each lane of a warp, in
// both directions. As many rows of threads make a block, 1,024 threads.
constexpr int kTile = 32;

// All of them: any batch; input and output do not overlap.
cudaError_t naive(const float* input, float* output, Batch batch, To to);
cudaError_t tiled(const float* input, float* output, Batch batch, To to);
// The CHWN array, whichever of the two it is, begins on a multiple of 8 bytes, as all memory does that
// cudaMalloc gives. An odd N is given to `tiled`.
cudaError_t tiled_float2(const float* input, float* output, Batch batch, To to);

}  // namespace halo::layout_transform
