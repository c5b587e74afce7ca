// Kernels of layers whose values come out right although something is wrong with them, and right
// ones. They play the variants of a simulated 2D stage.
#pragma once

#include <cuda_runtime.h>

namespace halo::planted {

// A layer of stride 1. input [N][C][H][W], filters [K][C][R][S], output [N][K][P][Q].
struct PlantedLayer {
  int N, C, H, W, K, R, S, P, Q, padding_h, padding_w;
};

// Right: one thread an output, blocks of 64.
cudaError_t right_layer(const float* input, const float* filters, float* output, PlantedLayer l);

// Right: each channel's sums into workspace [C][N][K][P][Q], which a second kernel adds up.
cudaError_t two_kernels(const float* input, const float* filters, float* output, float* workspace,
                        PlantedLayer l);

// The filter through shared memory, without the barrier before it is read.
cudaError_t no_barrier_layer(const float* input, const float* filters, float* output,
                             PlantedLayer l);

// Reads its workspace before anything was written there, and multiplies it by zero where it can.
cudaError_t stale_workspace(const float* input, const float* filters, float* output,
                            float* workspace, PlantedLayer l);

// Filters with their taps backwards, packed [floats], of which packed_layer makes the sums of right_layer.
cudaError_t pack_backwards(const float* filters, float* packed, int floats);
cudaError_t packed_layer(const float* input, const float* packed, float* output, PlantedLayer l);

// right_layer in a launch that may begin before the one before it has ended. It waits for that one, unless it is
// not `patient`; where it `begins_next` it lets the one after it begin at once.
cudaError_t overlapping_layer(const float* input, const float* filters, float* output,
                              PlantedLayer l, bool begins_next, bool patient);

}  // namespace halo::planted
