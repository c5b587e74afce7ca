#include <cuda/atomic>
// All that find work left raise one flag, which is the same whoever comes last; a count in the same kernel is an atomic's.
__global__ void step(const int* work, cuda::atomic<int>* again, cuda::atomic<int>* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (work[i] > 0) {
    again->store(1);
    count->fetch_add(1);
  }
}

int main() {
  constexpr int kCount = 256;
  int begin[kCount], flags[2] = {0, 0};
  for (int i = 0; i < kCount; ++i) begin[i] = i % 3;
  int *work, *on_device;
  cudaMalloc(&work, sizeof begin);
  cudaMalloc(&on_device, sizeof flags);
  cudaMemcpy(work, begin, sizeof begin, cudaMemcpyHostToDevice);
  cudaMemcpy(on_device, flags, sizeof flags, cudaMemcpyHostToDevice);
  auto* const atomics = reinterpret_cast<cuda::atomic<int>*>(on_device);
  step<<<4, 64>>>(work, atomics, atomics + 1);
  cudaMemcpy(flags, on_device, sizeof flags, cudaMemcpyDeviceToHost);
  return flags[0] == 1 ? 0 : 1;
}
