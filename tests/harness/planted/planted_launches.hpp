// Launches that are wrong around their kernels, or whose kernels say something. They play the variants
// of a simulated stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::planted {

// The arguments are those of planted.hpp.

// Right, but prints a line a launch and takes 100 bytes that it never frees.
cudaError_t prints_and_leaks(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last, int threads);

// Asserts that there are no more than 40 outputs.
cudaError_t asserts_few_outputs(const float* input, const float* mask, float* output, int n,
                                int width, int first, int last, int threads);

// Divides by zero where there are more than 40 outputs.
cudaError_t divides_by_zero(const float* input, const float* mask, float* output, int n, int width,
                            int first, int last, int threads);

// Asks for 2,048 threads a block.
cudaError_t too_many_threads(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last, int threads);

}  // namespace halo::planted
