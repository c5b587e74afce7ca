#include <cuda_runtime.h>

#include "stages/convolve/library/bias.hpp"

namespace halo::library {

// Preconditions: a thread for each output, blocks of one dimension.
__global__ void bias_kernel(float* output,      // [count], of [N][K][map]
                            const float* bias,  // [filters], or null
                            int filters, int map, int count, bool relu) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float value = output[i] + (bias != nullptr ? bias[i / map % filters] : 0.0f);
  // Not fmaxf(value, 0), which turns a NaN into 0.
  output[i] = relu && value < 0.0f ? 0.0f : value;
}

int add_bias(const conv::ConvLayer& layer, const float* bias, bool relu, float* output,
             void* stream) {
  constexpr int kThreads = 256;
  const int count = static_cast<int>(layer.output_size());
  bias_kernel<<<(count - 1) / kThreads + 1, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      output, bias, layer.K(), layer.P() * layer.Q(), count, relu);
  return cudaGetLastError();
}

}  // namespace halo::library
