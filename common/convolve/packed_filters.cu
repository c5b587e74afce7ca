#include "common/convolve/packed_filters.cuh"
#include "common/convolve/packed_filters.hpp"

namespace halo::convolve {

namespace {

struct Zeros {
  __device__ float operator()(long long) const { return 0.0f; }
};

int channels_of(const LayerNumbers& layer) { return (layer.C + 15) / 16 * 16; }
int row_of(const LayerNumbers& layer) { return (layer.K + 63) / 64 * 64; }

}  // namespace

int pack_filters(const float* filters, float* packed, const LayerNumbers& layer, int channels,
                 int row, long long floats) {
  const PackedRows rows = {layer.K, layer.C, layer.R * layer.S, channels, row};
  const long long behind = floats - rows.floats();
  return behind > 0 ? launch_pack(filters, packed, rows, Zeros(), behind)
                    : launch_pack(filters, packed, rows);
}

long long packed_floats(const LayerNumbers& layer) {
  return 1ll * layer.R * layer.S * channels_of(layer) * row_of(layer);
}

int pack_filters(const float* filters, float* packed, const LayerNumbers& layer) {
  return pack_filters(filters, packed, layer, channels_of(layer), row_of(layer),
                      packed_floats(layer));
}

}  // namespace halo::convolve
