// The kernel leaves a result, and raises a flag for the host: whether that has polled until it was raised, nobody can see.
#include <cuda_runtime.h>

__global__ void work(int* result, volatile int* flag) {
  *result = 7;
  __threadfence_system();
  *flag = 1;
}

int main() {
  int *result, *flag;
  cudaHostAlloc(&result, 4096, cudaHostAllocMapped);
  cudaHostAlloc(&flag, 4096, cudaHostAllocMapped);
  *flag = 0;
  work<<<1, 1>>>(result, flag);
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  if (*result != 7) return 1;
  return cudaDeviceSynchronize();
}
