// Stage 08: filters as step 6 reads them, G g G^T of each.
#include "stages/08_multi_channel_stride_fixed/winograd_f2.cuh"

namespace halo::multi_channel_stride_fixed {

// One thread per channel of a filter: neighbours are filters. Without channel or filter: zero.
static __global__ void winograd_f2_pack(const float* filters,  // [K][C][3][3]
                                        float* packed,  // [segments][kPlaces][kChannels][row]
                                        const LayerNumbers layer, const int row) {
  const long long i = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
  const int k = i % row, c = i / row, segment = c / kChannels;
  float half[3][4] = {}, whole[4][4];  // G of the rows, and of the columns of that
  for (int r = 0; r < 3 && k < layer.K && c < layer.C; ++r) {
    const float* const g = filters + (k * layer.C + c) * 9 + 3 * r;
    transform_taps(g[0], g[1], g[2], half[r]);
  }
  for (int j = 0; j < 4; ++j) transform_taps(half[0][j], half[1][j], half[2][j], whole[j]);
  for (int place = 0; place < kPlaces; ++place) {
    const int at = (segment * kPlaces + place) * kChannels + c % kChannels;
    packed[1ll * at * row + k] = whole[place % 4][place / 4];
  }
}

static int row_of(const LayerNumbers& layer) {
  return (layer.K - 1) / kTileFilters * kTileFilters + kTileFilters;
}

long long winograd_f2_floats(const LayerNumbers& layer) {
  return 1ll * ((layer.C - 1) / kChannels + 1) * kPlaces * kChannels * row_of(layer);
}

int pack_winograd_f2(const float* filters, float* packed, const LayerNumbers& layer) {
  const auto blocks = static_cast<unsigned>(winograd_f2_floats(layer) / kPlaces / kTileFilters);
  winograd_f2_pack<<<blocks, kTileFilters>>>(filters, packed, layer, row_of(layer));
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
