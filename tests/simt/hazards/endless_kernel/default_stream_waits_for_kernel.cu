// A copy on the default stream waits for the kernel on a blocking one, and would raise its flag.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  wait_for<<<1, 1, 0, stream>>>(flag);
  const int one = 1;
  return cudaMemcpy(flag, &one, sizeof one, cudaMemcpyHostToDevice) == cudaErrorLaunchTimeout ? 0
                                                                                              : 1;
}
