#include <cuda_runtime.h>

#include "common/convolve/packed_filters.hpp"

namespace halo::convolve {

// One thread per packed tap; gridDim.x * blockDim.x >= floats.
static __global__ void pack_kernel(const float* filters,  // [K][C][R * S]
                                   float* packed,         // [R * S][channels][row], then zeros
                                   const LayerNumbers layer, const int channels, const int row,
                                   const long long floats) {
  const long long i = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= floats) return;
  const int k = i % row, c = i / row % channels;
  const int tap = i / row / channels, taps = layer.R * layer.S;
  const bool exists = k < layer.K && c < layer.C && tap < taps;
  packed[i] = exists ? filters[(k * layer.C + c) * taps + tap] : 0.0f;
}

int pack_filters(const float* filters, float* packed, const LayerNumbers& layer, int channels,
                 int row, long long floats) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((floats - 1) / kThreads + 1);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, layer, channels, row, floats);
  return cudaGetLastError();
}

static int channels_of(const LayerNumbers& layer) { return (layer.C + 15) / 16 * 16; }
static int row_of(const LayerNumbers& layer) { return (layer.K + 63) / 64 * 64; }

long long packed_floats(const LayerNumbers& layer) {
  return 1ll * layer.R * layer.S * channels_of(layer) * row_of(layer);
}

int pack_filters(const float* filters, float* packed, const LayerNumbers& layer) {
  return pack_filters(filters, packed, layer, channels_of(layer), row_of(layer),
                      packed_floats(layer));
}

}  // namespace halo::convolve
