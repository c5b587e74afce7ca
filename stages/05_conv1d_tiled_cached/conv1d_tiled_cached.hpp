// Stage 05: 1D convolution, the block's own cells in shared memory, the halo through the cache.
#pragma once

#include <cuda_runtime.h>

#include "common/conv/limits.hpp"

namespace halo::conv1d_tiled_cached {

using conv::kMaxMaskWidth;  // 1023 taps: what the kernel's constant array holds

// Copies mask[width] from host memory to constant memory. width is odd, at most kMaxMaskWidth.
// Later launches use it.
cudaError_t set_mask(const float* mask, int width);

// For first <= i < last, with halo = (width - 1) / 2 and the mask given to set_mask:
//     output[i] = sum over j of mask[j] * input[i - halo + j],   cells beyond the ends are zero.
// Device memory: input[n], output[n]. n >= 1, 1 <= threads <= 1024, 0 <= first, last <= n; outputs
// outside [first, last) are left alone. Returns the launch's error, does not wait for the kernel.
cudaError_t tiled_cached(const float* input, float* output, int n, int width, int first, int last,
                         int threads);

// The same, tuned: width <= kQuadWidestMask; the block is of its own size. input and output are
// 16-byte aligned, as cudaMalloc returns them.
constexpr int kQuadThreads = 128;
constexpr int kQuadWidestMask = 31;

cudaError_t set_quad_mask(const float* mask, int width);
cudaError_t quad(const float* input, float* output, int n, int width, int first, int last);

}  // namespace halo::conv1d_tiled_cached
