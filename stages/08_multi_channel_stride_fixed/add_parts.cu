// Stage 08: the second kernel of step 1, which adds what the blocks left of each output.
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::multi_channel_stride_fixed {

// Adds the parts, always in the same order: with atomicAdd there would be one kernel and no
// temporaries, and a different result in the last bits in each run.
__global__ void add_parts_kernel(const float* partial,  // [parts][outputs]
                                 float* output,         // [outputs]
                                 int outputs, int parts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // fewer than 2^31: outputs end 4,097 below
  if (i >= outputs) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) sum += partial[part * outputs + i];
  output[i] = sum;
}

// Of the workspace, [parts][N][K][P][Q].
int add_parts(const LayerCall& call, int parts) {
  const LayerNumbers& layer = call.layer;
  const int outputs = layer.N * layer.K * layer.P * layer.Q;
  add_parts_kernel<<<(outputs - 1) / 256 + 1, 256>>>(call.workspace, call.output, outputs, parts);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
