__global__ void wait(int* flag, int* turns) {
  __shared__ int seen;
  if (blockIdx.x == 0) {
    do {
      __syncthreads();
      if (threadIdx.x == 0) seen = atomicAdd(flag, 0);
      __syncthreads();
    } while (seen < 3);
  } else {
    for (int i = 0; i < 20000; ++i) {
      if (threadIdx.x == 0) atomicAdd(turns, 1);
      __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(flag, 1);
  }
}

int main() {
  int* words;
  cudaMalloc(&words, 2 * sizeof(int));
  cudaMemset(words, 0, 2 * sizeof(int));
  wait<<<4, 64>>>(words, words + 1);
  return cudaDeviceSynchronize();
}
