// Kernels whose values come out right (or nearly always do) although something is wrong with them.
// They play the variants of a simulated stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::planted {

// The arguments are those of a 1D stage: device memory, outputs [first, last) wanted.

// The tile and the halo in shared memory, without the barrier before they are read.
cudaError_t no_barrier(const float* input, const float* mask, float* output, int n, int width,
                       int first, int last, int threads);

// Reads one cell past the end and multiplies it by zero.
cudaError_t reads_past_end(const float* input, const float* mask, float* output, int n, int width,
                           int first, int last, int threads);

// Adds up a shared cell that nobody wrote, times zero.
cudaError_t uninitialised(const float* input, const float* mask, float* output, int n, int width,
                          int first, int last, int threads);

// Right, and clean, but reads each tap of the mask twice.
cudaError_t reads_twice(const float* input, const float* mask, float* output, int n, int width,
                        int first, int last, int threads);

// Right, as far as anybody tries: of one length it forgets a cell.
cudaError_t seldom_wrong(const float* input, const float* mask, float* output, int n, int width,
                         int first, int last, int threads);

// Right below 2^24 cells: the index is a float.
cudaError_t float_index(const float* input, const float* mask, float* output, int n, int width,
                        int first, int last, int threads);

// Right, but of signals beyond 2^30 cells it changes the one in the middle.
cudaError_t changes_input(const float* input, const float* mask, float* output, int n, int width,
                          int first, int last, int threads);

// Right.
cudaError_t right(const float* input, const float* mask, float* output, int n, int width, int first,
                  int last, int threads);

}  // namespace halo::planted
