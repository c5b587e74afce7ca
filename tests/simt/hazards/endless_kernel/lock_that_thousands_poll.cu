__device__ int held;

__global__ void count(int* total) {
  while (atomicCAS(&held, 0, 1) != 0) {
  }
  *total += 1;  // and the lock is never given back
}

int main() {
  int* total;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  count<<<64, 256>>>(total);
  return cudaDeviceSynchronize();
}
