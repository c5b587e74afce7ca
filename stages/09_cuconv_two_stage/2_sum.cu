// Stage 09, step 2: the sum over the taps.
//
// Computes   output[n][k][p][q] = the sum of the R*S numbers that step 1 left for it, less
//            those of ghost cells, which were never written.
// Changed    since 1 scalar_products: one thread per output. Nothing is multiplied.
// Must cost  R*S reads and one write per output: with 3x3 filters 36 bytes read and 4 written,
//            where a single kernel would have had the sum in a register.
// Run        ./halo run 09 --variant two_stage
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/09_cuconv_two_stage/division.hpp"

namespace halo::cuconv_two_stage {

constexpr int kSumThreads = 256;

// Preconditions: gridDim.x * blockDim.x >= chunk.filters * chunk.products.
__global__ void sum_kernel(const float* temporaries,  // [R*S][chunk.filters][chunk.products]
                           float* output,             // [N][K][P][Q]
                           const LayerNumbers layer, const Chunk chunk) {
  // Threads in the order of the temporaries, which are R*S times as many as the outputs: all reads
  // are of neighbours, and a warp's write is in two pieces where an image ends.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int outputs = chunk.filters * chunk.products;
  if (i >= outputs) return;

  const int k = chunk.first_filter + i / chunk.products;
  const int m = chunk.first_product + i % chunk.products;
  const int q = m % layer.Q;
  const int p = m / layer.Q % layer.P;
  const int n = m / layer.Q / layer.P;

  float sum = 0.0f;
  for (int r = 0; r < layer.R; ++r) {
    const int h = p * layer.stride_h - layer.padding_h + r;
    for (int s = 0; s < layer.S; ++s) {
      const int w = q * layer.stride_w - layer.padding_w + s;
      if (h >= 0 && h < layer.H && w >= 0 && w < layer.W) {
        sum += temporaries[(r * layer.S + s) * outputs + i];
      }
    }
  }
  output[((n * layer.K + k) * layer.P + p) * layer.Q + q] = sum;
}

int sum(const LayerCall& call, const Chunk& chunk) {
  const int outputs = chunk.filters * chunk.products;
  const int blocks = (outputs - 1) / kSumThreads + 1;
  sum_kernel<<<blocks, kSumThreads, 0, static_cast<cudaStream_t>(call.stream)>>>(
      call.workspace, call.output, call.layer, chunk);
  return cudaGetLastError();
}

}  // namespace halo::cuconv_two_stage
