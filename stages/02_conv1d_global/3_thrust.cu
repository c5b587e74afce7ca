// Stage 02, variant 3: the same as 2_grid, written with Thrust.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 2_grid: only the work of one output is written here, as a function object.
//            Thrust chooses blocks and threads and writes the kernel round it.
// Must cost  what 2_grid costs per warp and tap: the work is the same. How many outputs a thread
//            takes, and so how they fall into warps, is Thrust's choice.
// Run        halo run 02 --variant thrust   (with no GPU it runs on the CPU: nothing to count)
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>

#include "stages/02_conv1d_global/conv1d_global.hpp"

namespace halo::conv1d_global {

// [doc:kernel]
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

cudaError_t thrust_transform(const float* input, const float* mask, float* output, int n, int width,
                             int first, int last) {
  if (first >= last) return cudaSuccess;
  try {
    // A counting iterator is a sequence first, first + 1, ... that takes no memory. `device` sends
    // the work to Thrust's device system: CUDA under nvcc, plain C++ where there is no GPU.
    thrust::transform(thrust::device, thrust::counting_iterator<int>(first),
                      thrust::counting_iterator<int>(last), output + first,
                      OneOutput{input, mask, n, width});
  } catch (const thrust::system_error& error) {
    return static_cast<cudaError_t>(error.code().value());
  }
  return cudaGetLastError();
}
// [/doc:kernel]

}  // namespace halo::conv1d_global
