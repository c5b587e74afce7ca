// Stage 04: 1D convolution, the block loads its tile and the halo into shared memory.
#pragma once

#include <cuda_runtime.h>

#include "common/conv/limits.hpp"

namespace halo::conv1d_tiled_halo {

using conv::kMaxMaskWidth;  // 1023 taps: what the kernel's constant array holds

// Copies mask[width] from host memory to constant memory. width is odd, at most kMaxMaskWidth.
// Later launches use it.
cudaError_t set_mask(const float* mask, int width);

// For first <= i < last, with halo = (width - 1) / 2 and the mask given to set_mask:
//     output[i] = sum over j of mask[j] * input[i - halo + j],   cells beyond the ends are zero.
// Device memory: input[n], output[n]. n >= 1, 1 <= threads <= 1024, 0 <= first, last <= n; outputs
// outside [first, last) are left alone. Returns the launch's error, does not wait for the kernel.
cudaError_t tiled_halo(const float* input, float* output, int n, int width, int first, int last,
                       int threads);

// The same, tuned: the block is of its own size. input and output are 16-byte aligned, as cudaMalloc
// returns them.
constexpr int kWarpTileThreads = 64;
// Outputs of a thread. More of them need fewer shared reads a multiply-add; fewer leave registers for
// more warps, which is what counts while memory is the limit.
constexpr int warp_tile_outputs(int width) { return width <= 31 ? 20 : 36; }
// Cells from the last multiple of 16 bytes before a tile to its first cell.
constexpr int warp_tile_shift(int width) { return (4 - (width - 1) / 2 % 4) % 4; }

cudaError_t set_warp_tile_mask(const float* mask, int width);
cudaError_t warp_tile(const float* input, float* output, int n, int width, int first, int last);

}  // namespace halo::conv1d_tiled_halo
