// Filters in the order in which register_tile.cu reads them (PackedFilters in tile.hpp).
#include "common/convolve/packed_filters.cuh"
#include "common/convolve/register_tile/tile.hpp"

namespace halo::convolve {

// What lies behind the packed filters: a quad of zeros; or, where channels are few, for each tap what TapSegments reads, in
// the order (c, r, s). After the last tap come some that do not exist: no row is so far down.
struct BehindFilters {
  LayerNumbers layer;
  bool few;

  __device__ float operator()(long long at) const {
    const int filter = layer.R * layer.S;
    const int tap = at / 4, r = tap % filter / layer.S, s = tap % layer.S;
    const int numbers[4] = {r, s, (tap / filter * layer.H + r) * layer.W + s, 0};
    const int of_none = at % 4 == 0 ? 1 << 30 : 0;
    const int number = tap < layer.C * filter ? numbers[at % 4] : of_none;
    return __int_as_float(few ? number : 0);
  }
};

int register_tile_pack(const float* filters, float* packed, const LayerNumbers& layer) {
  const PackedFilters order = packed_filters(layer.C, layer.K, layer.R, layer.S);
  const bool few = order.of_tap == 0;
  const int taps = layer.R * layer.S;
  PackedRows rows = {layer.K, layer.C, taps, order.of_tap * kSegmentChannels, order.row};
  if (few) {  // each tap is a channel
    rows = {layer.K, layer.C * taps, 1, order.segments * kSegmentChannels, order.row};
  } else {  // a channel that the last segment shares with the one before is multiplied by zeros
    rows.last = rows.channels - kSegmentChannels;
    rows.shift = rows.channels - layer.C;
  }
  return launch_pack(filters, packed, rows, BehindFilters{layer, few}, order.behind);
}

}  // namespace halo::convolve
