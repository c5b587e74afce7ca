// Blocks move their elements forward in place, one after the other, and count those that have read theirs. What a block has
// read before its barrier it has read before it is counted, without a fence. No atomic of it but adds.
__global__ void move(int* data, int* flags) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const int own = data[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    while (atomicAdd(&flags[blockIdx.x], 0) == 0) {
    }
    atomicAdd(&flags[blockIdx.x + 1], 1);
  }
  __syncthreads();
  if (blockIdx.x > 0) data[i - 64] = own;
}

int main() {
  int *data, *flags;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMalloc(&flags, 5 * sizeof(int));
  cudaMemset(data, 1, 256 * sizeof(int));
  cudaMemset(flags, 0, 5 * sizeof(int));
  cudaMemset(flags, 1, sizeof(int));
  move<<<4, 64>>>(data, flags);
  return cudaDeviceSynchronize();
}
