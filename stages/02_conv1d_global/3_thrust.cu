// Stage 02, step 3: the same as 2_grid, written with Thrust.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 2_grid: only the work of one output is written here, as a function object.
//            Thrust chooses blocks and threads and writes the kernel around it.
// Must cost  what 2_grid costs per warp and tap: the work is the same. How many outputs a thread
//            takes, and so how they fall into warps, is Thrust's choice: counted, not predicted.
// Run        ./halo run 02 --variant thrust
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>

#include "common/harness/kernel.h"

namespace halo::conv1d_global {

struct OneOutput {
  const float* input;  // [n], device memory
  const float* mask;   // [width], device memory
  int n, width;

  // Work of one output. Preconditions: 0 <= i < n; width is odd.
  __host__ __device__ float operator()(int i) const {
    const int halo = (width - 1) / 2;
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int k = i - halo + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];
    }
    return sum;
  }
};

static int launch(const Conv1dCall& c) {
  if (c.first >= c.last) return cudaSuccess;
  try {
    // [doc:launch]
    // A counting iterator is a sequence first, first + 1, ... that takes no memory. `device` sends
    // the work to Thrust's device system, which under nvcc is CUDA.
    thrust::transform(thrust::device, thrust::counting_iterator<int>(c.first),
                      thrust::counting_iterator<int>(c.last), c.output + c.first,
                      OneOutput{c.input, c.mask, c.length, c.mask_width});
    // [/doc:launch]
  } catch (const thrust::system_error& error) {
    return error.code().value();
  }
  return cudaGetLastError();
}

Conv1dKernel thrust() {
  return {.description = "a function object per output, the kernel is Thrust's", .launch = launch};
}

}  // namespace halo::conv1d_global
