// The two kernels of Fig. 7 of Li et al. (SC'16), CHWN to NCHW, as far as Zhang's presentation of it
// (2018) gives their text, kept as evidence: tests show what the simulator says of each. They are no
// variants of any stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::sc16_figure7 {

// Arrays in device memory, N*C*H*W floats each.

// Fig. 7a: a block for each w, h and c, a thread for each image.
cudaError_t naive(const float* input, float* output, int N, int C, int H, int W);

// Fig. 7b with a grid of across x down blocks. The blocks have 32 x 32 threads if C is a multiple of
// 32, else 32 x 16. N and C are template arguments there; cudaErrorNotSupported for pairs other than
// those of figure7b.cu.
cudaError_t float2_tile(const float* input, float* output, int N, int C, int across, int down);

}  // namespace halo::sc16_figure7
