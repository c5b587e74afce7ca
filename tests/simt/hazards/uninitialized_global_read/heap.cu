// What malloc gives in a kernel holds garbage, also where it was another thread's before.
#include <cuda_runtime.h>

__global__ void add(float* sums) {
  float* const own = static_cast<float*>(malloc(4 * sizeof(float)));
  if (own == nullptr) return;
  for (unsigned i = 0; i < threadIdx.x % 4; ++i) own[i] = 1;
  for (int i = 0; i < 4; ++i) sums[threadIdx.x] += own[i];
  free(own);
}

int main() {
  float* sums;
  cudaMalloc(&sums, 64 * sizeof(float));
  cudaMemset(sums, 0, 64 * sizeof(float));
  add<<<1, 64>>>(sums);
  return cudaDeviceSynchronize();
}
