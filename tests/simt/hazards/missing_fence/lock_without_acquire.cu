// The sum may be read before the lock is taken.
__device__ int lock;

__global__ void add(int* sum) {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  *sum += 1;
  __threadfence();
  atomicExch(&lock, 0);
}

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  add<<<4, 1>>>(sum);
  return cudaDeviceSynchronize();
}
