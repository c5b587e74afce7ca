// The first block to hold the lock lacks the fence; the others, which come after it, have theirs.
__device__ int lock = 0;

__global__ void count(int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  if (blockIdx.x != 0) __threadfence();
  *sum += 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  count<<<4, 32>>>(sum);
  return cudaDeviceSynchronize();
}
