// Prints what the model GPU says of itself and whether it can run a block with 100 KiB of shared
// memory. Compiled with simcc by program_interface_test.py.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(int* out) {
  extern __shared__ int cells[];
  cells[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = cells[blockDim.x - 1 - threadIdx.x];
}

int main() {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return 1;
  std::printf("name %s\n", properties.name);
  std::printf("compute capability %d.%d\n", properties.major, properties.minor);
  std::printf("multiprocessors %d\n", properties.multiProcessorCount);
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  const int bytes = 100 << 10;
  cudaError_t error =
      cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error == cudaSuccess) {
    fill<<<1, 64, bytes>>>(out);
    error = cudaDeviceSynchronize();
  }
  std::printf("100 KiB of shared memory: %s\n", error == cudaSuccess ? "yes" : "no");
  cudaGetLastError();
  fill<<<1, 64, 1024>>>(out);
  std::printf("1 KiB of shared memory: %s\n",
              cudaDeviceSynchronize() == cudaSuccess ? "yes" : "no");
  cudaFree(out);
  return 0;
}
