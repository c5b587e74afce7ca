// The blocks that wait leave no room for the kernel that would raise their flag.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void raise(int* flag) { atomicExch(flag, 1); }

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, raise);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaDeviceSynchronize();
  // Half of them, and there is room.
  wait_for<<<132, 1024, 0, s>>>(flag);
  raise<<<1, 1, 0, t>>>(flag);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemset(flag, 0, sizeof(int));
  cudaDeviceSynchronize();
  wait_for<<<264, 1024, 0, s>>>(flag);
  raise<<<1, 1, 0, t>>>(flag);
  return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 2;
}
