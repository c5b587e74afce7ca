// The report's tiled kernels with the errors of its listings, kept as evidence: tests show what the
// simulator says of each. They are no variants of any stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::report_listings {

// input[n] and output[n] in device memory, mask[width] in host memory.

// Code 4: strategy 1, as it was printed.
cudaError_t code4(const float* input, const float* mask, float* output, int n, int width,
                  int threads);

// Code 4 with its bounds corrected; the tile is still an array of int.
cudaError_t code4_int_tile(const float* input, const float* mask, float* output, int n, int width,
                           int threads);

// Code 5: strategy 2, as it was printed.
cudaError_t code5(const float* input, const float* mask, float* output, int n, int width,
                  int threads);

}  // namespace halo::report_listings
