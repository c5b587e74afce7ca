__global__ void add(int* sum) { atomicAdd_block(&sum[blockIdx.x], 1); }

int main() {
  int* sum;
  cudaMalloc(&sum, 4 * sizeof(int));
  cudaMemset(sum, 0, 4 * sizeof(int));
  add<<<4, 32>>>(sum);
  return cudaDeviceSynchronize();
}
