// Stage 09: filters as step 6 reads them.
#include <cuda_runtime.h>

#include "common/planning/implicit_gemm.hpp"

namespace halo::cuconv_two_stage {

namespace {

// One thread per packed tap; gridDim.x * blockDim.x >= packed_filters(layer).
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed,         // [R][S][C in quads][pitch]
                            const LayerNumbers layer, const int pitch, const int channels,
                            const long long floats) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= floats) return;
  const int k = i % pitch, c = i / pitch % channels;
  const int tap = i / pitch / channels, taps = layer.R * layer.S;
  const bool exists = k < layer.K && c < layer.C && tap < taps;
  packed[i] = exists ? filters[(k * layer.C + c) * taps + tap] : 0.0f;
}

}  // namespace

int pack_for_gemm(const float* filters, float* packed, const LayerNumbers& layer) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((packed_filters(layer) + kThreads - 1) / kThreads);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, layer, packed_pitch(layer),
                                    kQuad * quads_of_tap(layer), packed_filters(layer));
  return cudaGetLastError();
}

}  // namespace halo::cuconv_two_stage
