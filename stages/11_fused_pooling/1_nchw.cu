// Stage 11, step 1: pooling in NCHW, one thread per output.
//
// Computes   each output as the largest or the average cell of its window; ghost cells take no part.
//            The mapping is Caffe's, the NCHW side of Fig. 6 of Li et al. (SC'16).
// Changed    since 06 direct convolution: no filter and no sum over channels, so each cell is used at
//            most R*S times, and by few threads. Memory is all that counts.
// Must cost  per warp R*S requests, whose lanes are stride_w cells apart: with stride 2 eight or nine
//            sectors for 32 cells. With a window of 3 and stride 2 a cell is requested 9 / 4 times.
// Run        ./halo run 11 --variant nchw
#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"

namespace halo::fused_pooling {

constexpr int kThreads = 256;  // of a block

// Preconditions: blocks of kThreads threads, as many as N * C * P * Q outputs need.
template <bool kAverage>
__global__ void nchw_kernel(const float* input,  // [N][C][H][W]
                            float* output,       // [N][C][P][Q]
                            const LayerNumbers layer) {
  // Numbered consecutively, all lanes but those of the last warp have an output, however narrow
  // the map. A warp to a row would be simpler to count, and leave 26 of 32 lanes idle where Q = 6.
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int q = i % layer.Q;
  const int p = i / layer.Q % layer.P;
  const int plane = i / layer.Q / layer.P;
  if (plane >= layer.N * layer.C) return;

  // The window, less what lies beyond an edge: checked once, and not for each cell.
  const int first_h = p * layer.stride_h - layer.padding_h;
  const int first_w = q * layer.stride_w - layer.padding_w;
  const int begin_h = max(first_h, 0), end_h = min(first_h + layer.R, layer.H);
  const int begin_w = max(first_w, 0), end_w = min(first_w + layer.S, layer.W);

  const float* cells = input + plane * layer.H * layer.W;  // [H][W]
  float result = kAverage ? 0.0f : -INFINITY;
  for (int h = begin_h; h < end_h; ++h) {
#pragma unroll 1
    for (int w = begin_w; w < end_w; ++w) {
      const float cell = cells[h * layer.W + w];
      result = kAverage ? result + cell : fmaxf(result, cell);
    }
  }
  // Ghost cells do not count. The quotient is rounded once; times 1 / count would be twice.
  if (kAverage) result /= static_cast<float>((end_h - begin_h) * (end_w - begin_w));
  output[i] = result;
}

static int launch(const PoolingCall& call) {
  const LayerNumbers& layer = call.layer;
  const int blocks = (layer.N * layer.C * layer.P * layer.Q - 1) / kThreads + 1;
  const auto kernel = call.average ? nchw_kernel<true> : nchw_kernel<false>;
  kernel<<<blocks, kThreads>>>(call.input, call.output, layer);
  return cudaGetLastError();
}

PoolingKernel nchw() {
  return {.description = "one output per thread, lanes across columns",
          .launch = launch,
          .tiles = {{.cells = kThreads}}};
}

}  // namespace halo::fused_pooling
