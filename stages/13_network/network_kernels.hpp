// Stage 13's own kernels: what a network needs besides convolution, pooling and softmax.
#pragma once

#include <cuda_runtime.h>

namespace halo::network {

// All return the launch's error and do not wait for the kernel. Arrays are in device memory, none of
// more than 2^31 - 4,097 elements.

// For images of `channels` channels, in place:
//   cell = cell + bias[its channel], and then, with relu, what is below 0 becomes 0.
// data[count]; `inner` neighbours in memory are of one channel: H*W in NCHW, H*W*N in CHWN.
cudaError_t bias_relu(float* data, const float* bias, int channels, int inner, int count,
                      bool relu);

// The numbers of a fully connected layer: K outputs, each a sum over all F features of an image (the
// cells of its map in the order c, h, w).
struct Connections {
  int N;  // images
  int F;  // features, C*H*W of the map before
  int K;  // outputs
};

// output[n][k] = sum over f of input[n][f] * filters[k][f]. Device memory: filters [K][F] always;
//   in NCHW  input [N][F], output [N][K];
//   in CHWN  input [F][N], output [K][N].

// A block computes 64 images x 64 outputs from tiles in shared memory.
constexpr int kTile = 64;       // images, and outputs, of a block
constexpr int kTileStep = 32;   // features that are in shared memory at a time
constexpr int kTileSide = 16;   // threads across and down; each has 4 x 4 of the outputs
constexpr int kTilePitch = 65;  // floats from one feature to the next in shared memory
cudaError_t fully_connected_tiled_nchw(const float* input, const float* filters, float* output,
                                       const Connections& layer);
cudaError_t fully_connected_tiled_chwn(const float* input, const float* filters, float* output,
                                       const Connections& layer);

// A warp computes one output of up to 4 images, its lanes share the features.
constexpr int kLaneWarps = 8;   // warps, and so outputs, of a block
constexpr int kLaneImages = 4;  // images of a warp
cudaError_t fully_connected_lanes_nchw(const float* input, const float* filters, float* output,
                                       const Connections& layer);
cudaError_t fully_connected_lanes_chwn(const float* input, const float* filters, float* output,
                                       const Connections& layer);

}  // namespace halo::network
