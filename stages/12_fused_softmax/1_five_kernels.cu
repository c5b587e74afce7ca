// Stage 12, step 1: softmax as the libraries of 2016 had it, one kernel for each of its five steps.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c]: Li et al. (SC'16), section V.B, whose baseline this is.
// Changed    nothing: the stage begins here.
// Must cost  per cell five reads and three writes, 32 bytes, where 8 would do; and what the reductions
//            waste: their lanes are C floats apart, so a request of 32 lanes touches 32 sectors, from
//            C = 8 on, and uses 4 of each sector's 32 bytes.
// Run        ./halo run 12 --variant five_kernels
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::fused_softmax {

// The reductions have a thread for each image and no more: 128 images are 128 threads, whatever C is.
// In blocks of a warp they are at least spread over N / 32 multiprocessors.
constexpr int kReductionThreads = kWarpSize;
constexpr int kCellThreads = 256;

// Preconditions of all: a thread for each image (steps 1 and 4) or each cell (2, 3 and 5).

// Step 1.
__global__ void max_kernel(const float* input,  // [N][C]
                           float* maximum,      // [N]
                           const int N, const int C) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float largest = -INFINITY;
  // fmaxf takes the number where one of two is NaN. The NaN is not lost: step 2 meets it again.
  for (int c = 0; c < C; ++c) largest = fmaxf(largest, input[n * C + c]);
  maximum[n] = largest;
}

// Step 2.
__global__ void subtract_kernel(const float* input,    // [N][C]
                                const float* maximum,  // [N]
                                float* shifted,        // [N][C]
                                const int N, const int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * C) shifted[i] = input[i] - maximum[i / C];
}

// Step 3.
__global__ void exp_kernel(const float* shifted,  // [N][C]
                           float* exponentials,   // [N][C]
                           const int N, const int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // expf is right to 2 units in the last place; __expf would be faster, and less accurate the
  // further its argument is from 0.
  if (i < N * C) exponentials[i] = expf(shifted[i]);
}

// Step 4.
__global__ void sum_kernel(const float* exponentials,  // [N][C]
                           float* sum,                 // [N]
                           const int N, const int C) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  float total = 0.0f;
  for (int c = 0; c < C; ++c) total += exponentials[n * C + c];
  sum[n] = total;
}

// Step 5.
__global__ void divide_kernel(const float* exponentials,  // [N][C]
                              const float* sum,           // [N]
                              float* output,              // [N][C]
                              const int N, const int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * C) output[i] = exponentials[i] / sum[i / C];
}

// What the steps leave for each other: two matrices and two vectors. Each begins on 256 bytes.
static long long whole_lines(long long floats) { return (floats + 63) / 64 * 64; }

static long long workspace_floats(int N, int C) {
  return 2 * whole_lines(1LL * N * C) + 2 * whole_lines(N);
}

static int launch(const SoftmaxCall& c) {
  const int N = c.N;
  const int C = c.C;
  float* shifted = c.workspace;                              // [N][C]
  float* exponentials = shifted + whole_lines(1LL * N * C);  // [N][C]
  float* maximum = exponentials + whole_lines(1LL * N * C);  // [N]
  float* sum = maximum + whole_lines(N);                     // [N]
  const int images = (N - 1) / kReductionThreads + 1;        // blocks
  const int cells = (N * C - 1) / kCellThreads + 1;          // blocks
  max_kernel<<<images, kReductionThreads>>>(c.input, maximum, N, C);
  subtract_kernel<<<cells, kCellThreads>>>(c.input, maximum, shifted, N, C);
  exp_kernel<<<cells, kCellThreads>>>(shifted, exponentials, N, C);
  sum_kernel<<<images, kReductionThreads>>>(exponentials, sum, N, C);
  divide_kernel<<<cells, kCellThreads>>>(exponentials, sum, c.output, N, C);
  return cudaGetLastError();
}

SoftmaxKernel five_kernels() {
  return {.description = "a kernel per step, a thread per image in the reductions",
          .launch = launch,
          .workspace_floats = workspace_floats,
          .tiles = {{.N = kReductionThreads}}};
}

}  // namespace halo::fused_softmax
