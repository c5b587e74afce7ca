// A cooperative launch whose blocks wait for each other.
#include <cooperative_groups.h>

#include "expect.hpp"

__global__ void rotate(int* numbers, int* rotated) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  numbers[i] = static_cast<int>(i);
  cooperative_groups::this_grid().sync();
  rotated[i] = numbers[(i + 64) % (gridDim.x * blockDim.x)];
}

int main() {
  constexpr int kThreads = 256;
  int *numbers, *rotated;
  cudaMalloc(&numbers, kThreads * sizeof(int));
  cudaMalloc(&rotated, kThreads * sizeof(int));
  void* arguments[] = {&numbers, &rotated};
  const void* kernel = reinterpret_cast<const void*>(rotate);
  expect_error(cudaLaunchCooperativeKernel(kernel, 4, 64, arguments, 0, nullptr), cudaSuccess,
               __LINE__);
  int got[kThreads] = {};
  cudaMemcpy(got, rotated, sizeof got, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kThreads; ++i) wrong += got[i] != (i + 64) % kThreads;
  expect(wrong == 0, "behind the barrier all blocks have written", __LINE__);
  // More blocks than an H200 holds at a time.
  expect_error(cudaLaunchCooperativeKernel(kernel, 1000, 1024, arguments, 0, nullptr),
               cudaErrorCooperativeLaunchTooLarge, __LINE__);
  return verdict();
}
