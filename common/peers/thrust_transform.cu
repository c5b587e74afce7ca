// Thrust as a peer: one function object an output, the mask from global memory. As stage 02's
// 3_thrust.cu, but without waiting for the kernel, so that it can be captured into a CUDA graph.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/system_error.h>
#include <thrust/transform.h>

#include "common/peers/cub_and_thrust.hpp"

namespace halo::peers {

namespace {

struct OneOutput {
  const float* input;  // [n], device memory
  const float* mask;   // [width], device memory
  int n, width;

  __device__ float operator()(int i) const {
    const int halo = (width - 1) / 2;
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int k = i - halo + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];
    }
    return sum;
  }
};

}  // namespace

int thrust_transform(const float* input, const float* mask, float* output, int n, int width,
                     int first, int last) {
  if (first >= last) return cudaSuccess;
  try {
    thrust::transform(thrust::cuda::par_nosync.on(cudaStreamPerThread),
                      thrust::counting_iterator<int>(first), thrust::counting_iterator<int>(last),
                      output + first, OneOutput{input, mask, n, width});
  } catch (const thrust::system_error& error) {
    cudaGetLastError();
    return error.code().value();
  }
  return cudaGetLastError();
}

}  // namespace halo::peers
