// Filters as warpgroup.cu reads them: in two parts each, as wgmma takes matrices, once per layer.
#include <cuda_runtime.h>

#include "common/convolve/warpgroup/block.cuh"
#include "common/harness/tf32.h"

namespace halo::convolve {

namespace {

// packed[group][chunk of channels][tap][step][big, small][8 filters][4 channels, 4 more][filter][channel], zeros where
// there is no filter or channel: what a block copies of a piece is one run, and each part of a step is a matrix as
// wgmma takes it. Preconditions: a thread for each two floats of packed; `group` filters a tile.
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed, const LayerNumbers layer, const int group) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int part = group * kDepth;  // floats
  const int step = i / part % kSteps, piece = i / (part * kSteps);
  const int taps = layer.R * layer.S, chunks = (layer.C - 1) / kWarpgroupChannels + 1;
  const int k = piece / taps / chunks * group + i % part / 64 * 8 + i / 4 % 8;
  const int c = piece / taps % chunks * kWarpgroupChannels + step * kDepth + i / 32 % 2 * 4 + i % 4;
  const bool exists = k < layer.K && c < layer.C;
  const Tf32Parts parts =
      tf32_parts(exists ? filters[(k * layer.C + c) * taps + piece % taps] : 0.0f);
  float* const to = packed + (i / part * 2 * part + i % part);
  to[0] = __uint_as_float(parts.big);
  to[part] = __uint_as_float(parts.small);
}

}  // namespace

int pack_warpgroup(const float* filters, float* packed, const LayerNumbers& layer,
                   const WarpgroupTile& tile) {
  constexpr int kThreads = 256;
  const int groups = (layer.K - 1) / tile.filters + 1;
  const int pieces = layer.R * layer.S * ((layer.C - 1) / kWarpgroupChannels + 1);
  const int blocks = groups * pieces * (tile.filters * kWarpgroupChannels / kThreads);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, layer, tile.filters);
  return cudaGetLastError();
}

}  // namespace halo::convolve
