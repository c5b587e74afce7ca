// Stage 13: taps and biases as step 4 reads them, those of each block together.
#include <cuda_runtime.h>

#include "stages/13_network/on_chip.hpp"

namespace halo::network {

namespace {

// A block of threads for each filter of each block of the cluster: blockIdx.x and blockIdx.y. A row is a piece of `pitch` floats
// for each channel, of which the first `taps` are taps.
__global__ void pack_kernel(const float* filters,  // [K][C][taps]
                            const float* biases,   // [K]
                            float* packed,         // [blocks][floats]
                            const OnChipStep step, int taps, int pitch, int floats) {
  float* const own = packed + blockIdx.y * floats;
  const int k = blockIdx.y * step.share + blockIdx.x;
  for (int i = threadIdx.x; i < step.row; i += blockDim.x) {
    const int c = i / pitch, tap = i % pitch;
    float value = 0;
    if (k < step.K && c < step.C && tap < taps) value = filters[(k * step.C + c) * taps + tap];
    if (k < step.K && i == step.row - 4) value = biases[k];
    own[step.taps + blockIdx.x * step.row + i] = value;
  }
}

}  // namespace

// One layer's filters. Each layer fills its own part of `packed`.
int pack_on_chip(int blocks, const float* filters, const float* biases, float* packed,
                 const OnChipStep& step, int taps, int pitch, int floats) {
  constexpr int kThreads = 256;
  pack_kernel<<<dim3(step.share, blocks), kThreads>>>(filters, biases, packed, step, taps, pitch,
                                                      floats);
  return cudaGetLastError();
}

}  // namespace halo::network
