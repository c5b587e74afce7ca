// Kernels of operations whose values come out right although something is wrong with them, and right
// ones. They play the variants of a simulated stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::planted {

// Right: CHWN, input[cells][images], to NCHW, output[images][cells], by tiles of 8 x 8.
cudaError_t right_transform(const float* input, float* output, int images, int cells);

// The tile without the barrier before it is read.
cudaError_t no_barrier_transform(const float* input, float* output, int images, int cells);

// Right: the largest of each row of input [images][cells] into workspace [images]; then output.
// With categories cells, a softmax.
cudaError_t staged_softmax(const float* input, float* output, float* workspace, int images,
                           int cells);

// Reads the workspace before anything was written there, and multiplies it by zero.
cudaError_t stale_softmax(const float* input, float* output, float* workspace, int images,
                          int cells);

// Looks at one category more than a row has, and makes nothing of it.
cudaError_t curious_softmax(const float* input, float* output, int images, int cells);

}  // namespace halo::planted
