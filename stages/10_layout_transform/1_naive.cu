// Stage 10, step 1: a thread per image, a block per cell.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse. This is Fig. 7a of
//            Li et al., "Optimizing Memory Efficiency for Deep Convolutional Neural Networks on GPUs"
//            (SC'16), section V.A, extended to more than 1,024 images.
// Changed    nothing comes before it: this is the first stage that computes nothing and only moves.
// Must cost  per 32 images and cell: in CHWN one request of 4 or 5 sectors, all of it used; in NCHW
//            one request of 32 sectors, of which 4 bytes each are used (fewer sectors only if an image
//            has under 8 cells).
// Run        ./halo run 10_layout_transform --variant naive
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::layout_transform {

// Preconditions of both: a block for each cell.
__global__ void naive_to_nchw_kernel(const float* input,  // [cells][N]
                                     float* output,       // [N][cells]
                                     int N, int cells) {
  // The figure has a grid of W x H x C blocks and puts the number of the cell together from it. The
  // last two numbers of a grid end at 65,535; the cell's number itself has room in the first.
  const int cell = blockIdx.x;
  for (int n = threadIdx.x; n < N; n += blockDim.x) {
    output[n * cells + cell] = input[cell * N + n];
  }
}

__global__ void naive_to_chwn_kernel(const float* input,  // [N][cells]
                                     float* output,       // [cells][N]
                                     int N, int cells) {
  const int cell = blockIdx.x;
  for (int n = threadIdx.x; n < N; n += blockDim.x) {
    output[cell * N + n] = input[n * cells + cell];
  }
}

constexpr int kMaxThreads = 1024;

static int launch(const TransformCall& c) {
  // The figure starts N threads, which fails above the 1,024 that a block may have. Here those
  // threads loop. Few images waste in another way: with N = 8 a warp has 8 active lanes.
  const int threads = c.N < kMaxThreads ? c.N : kMaxThreads;
  if (c.to_chwn) {
    naive_to_chwn_kernel<<<c.cells, threads>>>(c.input, c.output, c.N, c.cells);
  } else {
    naive_to_nchw_kernel<<<c.cells, threads>>>(c.input, c.output, c.N, c.cells);
  }
  return cudaGetLastError();
}

TransformKernel naive() {
  return {.description = "a thread per image, a block per cell; no tile",
          .launch = launch,
          .tiles = {{.N = kMaxThreads}}};
}

}  // namespace halo::layout_transform
