// The first program of docs/simulator.md: each block reverses its 64 numbers through shared memory.
// A barrier is missing, and the simulator says where.
// [doc:program]
#include <cuda_runtime.h>

#include <cstdio>

__global__ void reverse(float* data) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const int i = blockIdx.x * 64 + t;
  tile[t] = data[i];
  // Here __syncthreads() is missing.
  data[i] = tile[63 - t];
}

int main() {
  const int n = 256;
  float host[n];
  for (int i = 0; i < n; ++i) host[i] = i;

  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemcpy(data, host, n * sizeof(float), cudaMemcpyHostToDevice);
  reverse<<<n / 64, 64>>>(data);
  const cudaError_t status = cudaDeviceSynchronize();
  cudaMemcpy(host, data, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%s: %g ... %g\n", cudaGetErrorString(status), host[0], host[63]);
  cudaFree(data);
}
// [/doc:program]
