__global__ void wait(int* flag) {
  __shared__ int seen;
  do {
    __syncthreads();
    if (threadIdx.x == 0) seen = atomicAdd(flag, 0);
    __syncthreads();
    __syncthreads();
  } while (seen == 0);
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait<<<2, 128>>>(flag);
  return cudaDeviceSynchronize();
}
