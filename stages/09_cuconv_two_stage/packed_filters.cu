// Stage 09: filters as steps 3 and 4 read them.
#include <cuda_runtime.h>

#include "stages/09_cuconv_two_stage/gemm_tile.hpp"

namespace halo::cuconv_two_stage {

// One thread per packed tap: neighbours are filters. Taps without a channel or filter are zero.
static __global__ void pack_kernel(const float* filters,  // [K][C][R * S]
                                   float* packed,         // [R * S][channels][row]
                                   const LayerNumbers layer, const int channels, const int row) {
  const long long i = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
  const int k = i % row, c = i / row % channels, tap = i / row / channels;
  const bool exists = k < layer.K && c < layer.C;
  packed[i] = exists ? filters[(k * layer.C + c) * layer.R * layer.S + tap] : 0.0f;
}

static int channels_of(const LayerNumbers& layer) { return (layer.C + 15) / 16 * 16; }
static int row_of(const LayerNumbers& layer) { return (layer.K + 63) / 64 * 64; }

long long packed_floats(const LayerNumbers& layer) {
  return 1ll * layer.R * layer.S * channels_of(layer) * row_of(layer);
}

int pack_filters(const float* filters, float* packed, const LayerNumbers& layer) {
  constexpr int kThreads = 256;  // of which 16 * 64 is a multiple
  const auto blocks = static_cast<unsigned>(packed_floats(layer) / kThreads);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, layer, channels_of(layer), row_of(layer));
  return cudaGetLastError();
}

}  // namespace halo::cuconv_two_stage
