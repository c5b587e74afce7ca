// Two kernels poll flags that nobody raises, and count their attempts in the same word: each sees that the other has.
__global__ void wait_for(const volatile int* flag, int* attempts) {
  while (*flag == 0) atomicAdd(attempts, 1);
}

int main() {
  int *flags, *attempts;
  cudaMalloc(&flags, 2 * sizeof(int));
  cudaMalloc(&attempts, sizeof(int));
  cudaMemset(flags, 0, 2 * sizeof(int));
  cudaMemset(attempts, 0, sizeof(int));
  cudaDeviceSynchronize();
  for (int i = 0; i < 2; ++i) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    wait_for<<<1, 1, 0, stream>>>(flags + i, attempts);
  }
  return cudaDeviceSynchronize() == cudaErrorLaunchTimeout ? 0 : 1;
}
