#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/set_operations.h>

// The last thread compares on behind the last key, and keeps nothing of it.
int main() {
  constexpr int kCount = 5000;
  static int host[kCount];
  int *a, *b, *both;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  cudaMalloc(&both, sizeof host);
  for (int i = 1; i < kCount; ++i) host[i] = host[i - 1] + i % 4;
  cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
  const int* const end =
      thrust::set_intersection(thrust::device, a, a + kCount, b, b + kCount, both);
  return end - both == kCount ? 0 : 1;
}
