// atomicAdd_block is atomic among the threads of one block.
__global__ void add(int* sum) { atomicAdd_block(sum, 1); }

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  add<<<4, 32>>>(sum);
  return cudaDeviceSynchronize();
}
