// Stage 12, step 4: the same with CUB's block reductions.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c].
// Changed    since 3 fused_parallel: cub::BlockReduce for block_reduce. It leaves its result in one
//            thread, which has to tell the others, and has one place for both reductions.
// Must cost  in global memory as step 3; per block four barriers, and per reduction a store of each
//            warp, a load of thread 0 for each further warp, its store of the result, and a load of each
//            warp. (That is how CUB does it today; it promises a result, not the traffic. Of
//            thread 0's loads, which are neighbours, ptxas makes few wide ones.)
// Run        ./halo run 12 --variant fused_cub
#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/blocks.h"

namespace halo::fused_softmax {

// Preconditions: a block of kThreads for each image; dynamic shared memory holds `kept` floats,
// kept <= C.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) fused_cub_kernel(const float* input,  // [N][C]
                                                             float* output,       // [N][C]
                                                             const int C, const int kept) {
  using BlockReduce = cub::BlockReduce<float, kThreads>;
  extern __shared__ float row[];  // [kept], the first cells of the image
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ float block_largest;
  __shared__ float block_sum;

  wait_for_launches_before();
  const float* image = input + blockIdx.x * C;  // [C]
  float* result = output + blockIdx.x * C;      // [C]

  // A thread has the same categories in all steps. So it reads only those cells of `row` that
  // it has written itself, without a barrier.
  float largest = -INFINITY;
  for_own_cells<kThreads>(C, [&](int c) {
    const float cell = image[c];
    if (c < kept) row[c] = cell;
    largest = fmaxf(largest, cell);
  });
  // [doc:reduce]
  largest = BlockReduce(storage).Reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) block_largest = largest;
  __syncthreads();  // also before `storage` is used again
  largest = block_largest;
  // [/doc:reduce]

  float sum = 0.0f;
  for_own_cells<kThreads>(C, [&](int c) {
    const float cell = c < kept ? row[c] : image[c];
    const float exponential = expf(cell - largest);
    if (c < kept) row[c] = exponential;
    sum += exponential;
  });
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) block_sum = sum;
  __syncthreads();
  sum = block_sum;

  for_own_cells<kThreads>(C, [&](int c) {
    const float exponential = c < kept ? row[c] : expf(image[c] - largest);
    result[c] = exponential / sum;
  });
}

static int launch(const SoftmaxCall& c) {
  const int kept = c.C < kKeptFloats ? c.C : kKeptFloats;
  const int threads = threads_for(c.C);
  const auto kernel = dispatch<32, 64, 128, 256, 512, 1024>(
      threads, [](auto number) { return fused_cub_kernel<number.value>; });
  return launch_overlapping(c.overlaps, kernel, c.N, threads, kept * sizeof(float), nullptr,
                            c.input, c.output, c.C, kept);
}

SoftmaxKernel fused_cub() {
  return {.description = "the same with CUB's block reductions",
          .launch = launch,
          .can_overlap = true,
          .tiles = {{.C = kMaxThreads}, {.C = kKeptFloats}}};
}

}  // namespace halo::fused_softmax
