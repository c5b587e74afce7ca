// Stage 12, step 3: the inner loops run in parallel as well. A block per image.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c].
// Changed    since 2 fused: a block has one image, its threads share the categories, and they find
//            maximum and sum together. It is the paper's kernel (Fig. 9) with the index of its load
//            corrected, and with a number of threads that need not be that of the categories.
// Must cost  in global memory as step 2; in shared memory per warp and reduction one store and one
//            load, and per block two barriers instead of four. A reduction of C cells takes C / 1024
//            steps and ten shuffles, no longer C steps.
// Run        ./halo run 12 --variant fused_parallel
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/blocks.h"

namespace halo::fused_softmax {

// [doc:block_reduce]
// The reduction `op` of the values of all threads, the same in all of them. `partials` must be one
// that no thread of the block has used since the last barrier: a warp may still be reading it. The
// order of the operations is always the same.
template <int kThreads, class Op>
__device__ float block_reduce(float value, const float identity,
                              float* partials,  // [kThreads / kWarpSize]
                              const Op op) {
  // Across the warp: after a shuffle over 16, 8, 4, 2 and 1 lanes each lane has the whole warp's.
  for (int distance = 16; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  const int lane = threadIdx.x % kWarpSize;
  if (lane == 0) partials[threadIdx.x / kWarpSize] = value;
  __syncthreads();  // every warp has left its own
  // Across the warps: each warp does this for itself. If only the first did, the others would have to
  // wait at a second barrier for what it found.
  value = lane < kThreads / kWarpSize ? partials[lane] : identity;
  for (int distance = 16; distance > 0; distance /= 2) {
    value = op(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  return value;
}
// [/doc:block_reduce]

// Preconditions: a block of kThreads for each image; dynamic shared memory holds `kept` floats,
// kept <= C. With a number of threads that is known to the compiler it takes four turns of a loop at
// a time, and so has four loads under way.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) fused_parallel_kernel(const float* input,  // [N][C]
                                                                  float* output,       // [N][C]
                                                                  const int C, const int kept) {
  extern __shared__ float row[];                       // [kept], the first cells of the image
  __shared__ float partials[2][kThreads / kWarpSize];  // one for each reduction

  wait_for_launches_before();
  const float* image = input + blockIdx.x * C;  // [C]
  float* result = output + blockIdx.x * C;      // [C]

  // [doc:steps]
  // A thread has the same categories in all steps. So it reads only those cells of `row` that
  // it has written itself, without a barrier.
  float largest = -INFINITY;
  for_own_cells<kThreads>(C, [&](int c) {
    const float cell = image[c];
    if (c < kept) row[c] = cell;
    largest = fmaxf(largest, cell);
  });
  largest = block_reduce<kThreads>(largest, -INFINITY, partials[0],
                                   [](float a, float b) { return fmaxf(a, b); });

  float sum = 0.0f;
  for_own_cells<kThreads>(C, [&](int c) {
    const float cell = c < kept ? row[c] : image[c];
    const float exponential = expf(cell - largest);
    if (c < kept) row[c] = exponential;
    sum += exponential;
  });
  sum = block_reduce<kThreads>(sum, 0.0f, partials[1], [](float a, float b) { return a + b; });
  // [/doc:steps]

  for_own_cells<kThreads>(C, [&](int c) {
    const float exponential = c < kept ? row[c] : expf(image[c] - largest);
    result[c] = exponential / sum;
  });
}

static int launch(const SoftmaxCall& c) {
  const int kept = c.C < kKeptFloats ? c.C : kKeptFloats;
  const int threads = threads_for(c.C);
  const auto kernel = dispatch<32, 64, 128, 256, 512, 1024>(
      threads, [](auto number) { return fused_parallel_kernel<number.value>; });
  return launch_overlapping(c.overlaps, kernel, c.N, threads, kept * sizeof(float), nullptr,
                            c.input, c.output, c.C, kept);
}

SoftmaxKernel fused_parallel() {
  return {.description = "a block per image, threads across its categories",
          .launch = launch,
          .can_overlap = true,
          .tiles = {{.C = kMaxThreads}, {.C = kKeptFloats}}};
}

}  // namespace halo::fused_softmax
