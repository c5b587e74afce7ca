// Stage 08: 2D convolution of many channels, by the divisions of Chang & Onishi.
#pragma once

#include <cuda_runtime.h>

#include "stages/08_multi_channel_stride_fixed/blocks.hpp"

namespace halo::multi_channel_stride_fixed {

// All compute the layer's output[N][K][P][Q] from input[N][C][H][W] and filters[K][C][R][S], in
// device memory, cells beyond the edges zero. The blocks are those of block_plan.hpp, made for the
// same layer. They return the launches' error and do not wait for the kernels.

// The block method: `segment` taps of M' filters at a time, and the lines that they need.
cudaError_t stride_fixed(const float* input, const float* filters, float* output,
                         const Layer& layer, const Block& block);

// Divided along the channels: each of `parts` blocks for the same outputs sums over C / parts
// channels, rounded up, the last over what is left, which is one at least; a second kernel adds their
// sums. workspace[parts][N][K][P][Q].
cudaError_t channels_divided(const float* input, const float* filters, float* output,
                             float* workspace, const Layer& layer, const Block& block, int parts);

// Only the filters divided: each block keeps block.filters of them on chip (1, 2, 4 or 8, else
// cudaErrorInvalidValue) and reads the whole input.
cudaError_t filters_divided(const float* input, const float* filters, float* output,
                            const Layer& layer, const Block& block);

// Only the maps divided: each block keeps its part of all channels on chip (block.ring lines are all
// there are) and reads all filters.
cudaError_t maps_divided(const float* input, const float* filters, float* output,
                         const Layer& layer, const Block& block);

}  // namespace halo::multi_channel_stride_fixed
