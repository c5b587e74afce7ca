// Filters as warpgroup.cu reads them: in two parts each, as wgmma takes matrices, once per layer; and once per call what takes
// their place in a fully connected layer.
#include <cuda_runtime.h>

#include "common/convolve/warpgroup/block.cuh"
#include "common/harness/tf32.h"

namespace halo::convolve {

namespace {

// packed[group][piece][step][big, small][8 filters][4 channels, 4 more][filter][channel], pieces of [chunk of `channels`]
// [tap], zeros where there is no filter or channel: what a block copies of a piece is one run, and each part of a step is a
// matrix as wgmma takes it. Preconditions: a thread for each two floats of packed; `group` filters a tile.
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed, const LayerNumbers layer, const int group,
                            const int pieces, const int channels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int part = group * kDepth;  // floats
  const int step = i / part % kSteps, piece = i / (part * kSteps);
  const int taps = layer.R * layer.S;
  const int k = piece / pieces * group + i % part / 64 * 8 + i / 4 % 8;
  const int product = piece % pieces * kWarpgroupChannels + step * kDepth + i / 32 % 2 * 4 + i % 4;
  const int c = product / channels / taps * channels + product % channels;
  const bool exists = k < layer.K && c < layer.C;
  const Tf32Parts parts =
      tf32_parts(exists ? filters[(k * layer.C + c) * taps + product / channels % taps] : 0.0f);
  float* const to = packed + (i / part * 2 * part + i % part);
  to[0] = __uint_as_float(parts.big);
  to[part] = __uint_as_float(parts.small);
}

}  // namespace

int pack_warpgroup(const float* filters, float* packed, const LayerNumbers& layer,
                   const WarpgroupTile& tile, const WarpgroupTiles& tiles, WarpgroupPixelsBy by,
                   void* stream) {
  constexpr int kThreads = 256;
  const int blocks =
      tiles.groups.value * tiles.pieces * (tile.filters * kWarpgroupChannels / kThreads);
  pack_kernel<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      filters, packed, layer, tile.filters, tiles.pieces, channels_of(by));
  return cudaGetLastError();
}

}  // namespace halo::convolve
