// The stream that would raise the flag waits for the kernel first.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t event;
  cudaEventCreate(&event);
  wait_for<<<1, 1, 0, s>>>(flag);
  cudaEventRecord(event, s);
  cudaStreamWaitEvent(t, event);
  cudaMemsetAsync(flag, 1, sizeof(int), t);
  return cudaStreamSynchronize(t) == cudaErrorLaunchTimeout ? 0 : 1;
}
