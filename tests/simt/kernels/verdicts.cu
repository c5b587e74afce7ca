// Kernels with an error, with a note and with nothing to tell, for findings_test.py. Usage: verdicts [race|write|clean|crash]...
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

namespace halves {

template <int n>
__global__ void reverse(float* data) {
  __shared__ float tile[n];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  const float other = tile[n - 1 - threadIdx.x];  // LINE load
  tile[threadIdx.x] = other;                      // LINE store
  data[threadIdx.x] = other;
}

}  // namespace halves

__global__ void same(int* flag) {
  *flag = 1;  // LINE same
}

__global__ void clear(float* data) { data[threadIdx.x] = 0; }

int main(int count, char** words) {
  float* data;
  cudaMalloc(&data, 64 * sizeof(float));
  cudaMemset(data, 0, 64 * sizeof(float));
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "race") == 0) halves::reverse<64><<<1, 64>>>(data);
    if (std::strcmp(words[i], "write") == 0) same<<<1, 64>>>(reinterpret_cast<int*>(data));
    if (std::strcmp(words[i], "clean") == 0) clear<<<1, 64>>>(data);
    if (std::strcmp(words[i], "crash") == 0) std::abort();
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  }
  return 0;
}
