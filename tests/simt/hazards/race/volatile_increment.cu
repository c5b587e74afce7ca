__global__ void count(volatile int* total) { *total = *total + 1; }

int main() {
  int* total;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  count<<<4, 32>>>(total);
  return cudaDeviceSynchronize();
}
