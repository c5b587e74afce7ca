// Filters as split_tf32.cu reads them: in two parts each, in the order of its lanes, once per layer.
#include <cuda_runtime.h>

#include "common/convolve/split_tf32/fragments.cuh"

namespace halo::convolve {

// packed[group][piece][fragment][step of 8 channels][big, small][lane][4], zeros where there is no filter or
// channel: what a block copies of a piece is one run, and what a lane loads of a fragment is 16 bytes.
// Preconditions: a thread for each two floats of packed; `group` filters a block, 64 or 128.
__global__ void split_filters_kernel(const float* filters,  // [K][C][R][S]
                                     float* packed, const LayerNumbers layer, const int group) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int e = i % 4;  // of a lane's four: rows g and g + 8 of column t, then of column t + 4
  const int lane = i / 4 % kWarpSize;
  const int step = i / kFragmentFloats % kDepthsOfPiece;
  const int fragment = i / (kFragmentFilters * kPieceChannels) % (group / kFragmentFilters);
  const int piece = i / (group * kPieceChannels);  // of all groups
  const int pieces_of_tap = (layer.C - 1) / kPieceChannels + 1;
  const int taps = layer.R * layer.S;
  const int tap = piece / pieces_of_tap % taps;

  const int k =
      piece / pieces_of_tap / taps * group + fragment * kFragmentFilters + lane / 4 + e % 2 * 8;
  const int c = piece % pieces_of_tap * kPieceChannels + step * kDepth + lane % 4 + e / 2 * 4;
  const bool exists = k < layer.K && c < layer.C;
  const Tf32Parts parts = tf32_parts(exists ? filters[(k * layer.C + c) * taps + tap] : 0.0f);
  float* const to = packed + (i / kFragmentFloats * 2 * kFragmentFloats + i % kFragmentFloats);
  to[0] = __uint_as_float(parts.big);
  to[kFragmentFloats] = __uint_as_float(parts.small);
}

int split_filters(const float* filters, float* packed, const LayerNumbers& layer,
                  const SplitTile& tile) {
  constexpr int kThreads = 256;
  const int groups = (layer.K - 1) / tile.filters + 1;
  const int pieces = layer.R * layer.S * ((layer.C - 1) / kPieceChannels + 1);
  const int blocks = groups * pieces * (tile.filters * kPieceChannels / kThreads);
  split_filters_kernel<<<blocks, kThreads>>>(filters, packed, layer, tile.filters);
  return cudaGetLastError();
}

}  // namespace halo::convolve
