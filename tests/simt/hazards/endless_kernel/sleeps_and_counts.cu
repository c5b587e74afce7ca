__global__ void wait(int* flag, unsigned* times) {
  unsigned n = 0;
  while (atomicAdd(flag, 0) == 0) {
    ++n;
    if (threadIdx.x == 0) __nanosleep(100);
  }
  *times = n;
}

int main() {
  int* flag;
  unsigned* times;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&times, sizeof(unsigned));
  cudaMemset(flag, 0, sizeof(int));
  wait<<<2, 64>>>(flag, times);
  return cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}
