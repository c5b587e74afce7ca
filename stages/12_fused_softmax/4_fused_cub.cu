// Stage 12, step 4: the same with CUB's block reductions.
//
// Computes   as step 1.
// Changed    since 3 fused_parallel: cub::BlockReduce for block_reduce. It leaves its result in one
//            thread, which has to tell the others, and has one place for both reductions.
// Must cost  in global memory as step 3; per block four barriers, and per reduction a store of each
//            warp, a load of thread 0 for each further warp, its store of the result, and a load of each
//            warp. (That is how CUB does it today; it promises a result, and no traffic.)
// Run        halo run 12 --variant fused_cub
#include <cub/cub.cuh>

#include "stages/12_fused_softmax/fused_softmax.hpp"

namespace halo::fused_softmax {

// [doc:kernel]
// Preconditions: as step 3.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) fused_cub_kernel(const float* input,  // [N][C]
                                                             float* output,       // [N][C]
                                                             const int C, const int kept) {
  using BlockReduce = cub::BlockReduce<float, kThreads>;
  extern __shared__ float row[];  // [kept], the first cells of the image
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ float block_largest;
  __shared__ float block_sum;

  const float* image = input + blockIdx.x * C;  // [C]
  float* result = output + blockIdx.x * C;      // [C]

  // A thread has the same categories in all steps. So it reads of `row` only what it has written
  // itself, and no barrier is needed for it.
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < C; c += kThreads) {
    const float cell = image[c];
    if (c < kept) row[c] = cell;
    largest = fmaxf(largest, cell);
  }
  largest = BlockReduce(storage).Reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) block_largest = largest;
  __syncthreads();  // also before `storage` is used again
  largest = block_largest;

  float sum = 0.0f;
  for (int c = threadIdx.x; c < C; c += kThreads) {
    const float cell = c < kept ? row[c] : image[c];
    const float exponential = expf(cell - largest);
    if (c < kept) row[c] = exponential;
    sum += exponential;
  }
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) block_sum = sum;
  __syncthreads();
  sum = block_sum;

  for (int c = threadIdx.x; c < C; c += kThreads) {
    const float exponential = c < kept ? row[c] : expf(image[c] - largest);
    result[c] = exponential / sum;
  }
}
// [/doc:kernel]

cudaError_t fused_cub(const float* input, float* output, int N, int C) {
  const int kept = C < kKeptFloats ? C : kKeptFloats;
  const size_t bytes = kept * sizeof(float);
  switch (threads_for(C)) {
    case 32:
      fused_cub_kernel<32><<<N, 32, bytes>>>(input, output, C, kept);
      break;
    case 64:
      fused_cub_kernel<64><<<N, 64, bytes>>>(input, output, C, kept);
      break;
    case 128:
      fused_cub_kernel<128><<<N, 128, bytes>>>(input, output, C, kept);
      break;
    case 256:
      fused_cub_kernel<256><<<N, 256, bytes>>>(input, output, C, kept);
      break;
    case 512:
      fused_cub_kernel<512><<<N, 512, bytes>>>(input, output, C, kept);
      break;
    default:
      fused_cub_kernel<1024><<<N, 1024, bytes>>>(input, output, C, kept);
      break;
  }
  return cudaGetLastError();
}

}  // namespace halo::fused_softmax
