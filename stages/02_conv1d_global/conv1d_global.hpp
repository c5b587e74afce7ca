// Stage 02: 1D convolution with everything in global memory. The launch functions of its variants.
//
// All compute, for first <= i < last and with halo = (width - 1) / 2,
//     output[i] = sum over j of mask[j] * input[i - halo + j],   cells beyond the ends are zero.
// Device memory: input[n], mask[width], output[n]. n >= 1, width odd, 1 <= threads <= 1024,
// 0 <= first, last <= n; outputs outside [first, last) are left alone.
// They return the launch's error and do not wait for the kernel.
#pragma once

#include <cuda_runtime.h>

namespace halo::conv1d_global {

cudaError_t single_block(const float* input, const float* mask, float* output, int n, int width,
                         int first, int last, int threads);

cudaError_t grid(const float* input, const float* mask, float* output, int n, int width, int first,
                 int last, int threads);

// Thrust chooses its own block size.
cudaError_t thrust_transform(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last);

}  // namespace halo::conv1d_global
