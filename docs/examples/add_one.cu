// The whole program of docs/00_before_you_start.md: adds one to 100,000 numbers and looks at every
// call's status.
// [doc:program]
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// [doc:kernel]
__global__ void add_one(float* data, int n) {     // __global__: runs on the GPU
  int i = blockIdx.x * blockDim.x + threadIdx.x;  // which thread am I, of the whole grid?
  if (i < n) data[i] += 1.0f;                     // the last block may reach past the end
}
// [/doc:kernel]

int main() {
  const int n = 100000;
  const size_t bytes = n * sizeof(float);
  std::vector<float> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;

  float* data = nullptr;  // an address on the GPU: the CPU must not read it
  check(cudaMalloc(&data, bytes), "allocate");
  check(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice), "copy to the GPU");

  const int threads = 256, blocks = (n + threads - 1) / threads;  // rounded up: 391
  add_one<<<blocks, threads>>>(data, n);                          // returns at once
  check(cudaGetLastError(), "launch");                            // could it be started?
  check(cudaDeviceSynchronize(), "kernel");                       // did it end well?

  check(cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost), "copy to the host");
  check(cudaFree(data), "free");
  std::printf("%g %g ... %g\n", host[0], host[1], host[n - 1]);
}
// [/doc:program]
