// Filters in the order in which register_tile.cu reads them (PackedFilters in tile.hpp), once per layer.
#include "common/convolve/register_tile/tile.hpp"
#include "common/harness/kernel.h"

namespace halo::convolve {

// Preconditions: a thread for each number of `packed`.
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed,  // [segments][kSegmentChannels][packed_row], and after
                            const LayerNumbers layer, const PackedFilters order) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int filter = layer.R * layer.S, taps = layer.C * filter;
  if (i >= order.floats) {
    const long long at = i - order.floats;
    if (at >= order.behind) return;
    // A quad of zeros; or for each tap what TapSegments reads, in the order (c, r, s). After
    // the last tap come some that do not exist: no row is so far down.
    const int tap = at / 4, r = tap % filter / layer.S, s = tap % layer.S;
    const int numbers[4] = {r, s, (tap / filter * layer.H + r) * layer.W + s, 0};
    const int of_none = at % 4 == 0 ? 1 << 30 : 0;
    const int number = tap < taps ? numbers[at % 4] : of_none;
    reinterpret_cast<int*>(packed)[i] = order.of_tap > 0 ? 0 : number;
    return;
  }
  const int k = i % order.row, position = i / order.row;
  int tap = position;
  bool counts = k < layer.K && tap < taps;
  if (order.of_tap > 0) {
    const int segment = position / kSegmentChannels % order.of_tap;
    const int first = min(segment * kSegmentChannels, layer.C - kSegmentChannels);
    const int c = first + position % kSegmentChannels;
    // A channel that the segment before has too is multiplied by zeros.
    counts = k < layer.K && c >= segment * kSegmentChannels;
    tap = c * filter + position / kSegmentChannels / order.of_tap;
  }
  packed[i] = counts ? filters[static_cast<long long>(k) * taps + tap] : 0.0f;
}

int register_tile_pack(const float* filters, float* packed, const LayerNumbers& layer) {
  const PackedFilters order = packed_filters(layer.C, layer.K, layer.R, layer.S);
  const long long numbers = order.floats + order.behind;
  constexpr int kPackThreads = 256;
  pack_kernel<<<(numbers - 1) / kPackThreads + 1, kPackThreads>>>(filters, packed, layer, order);
  return cudaGetLastError();
}

}  // namespace halo::convolve
