// Blocks move their elements forward in place, one after the other. What a block has read before its barrier it has read
// before it raises its flag, without a fence.
__global__ void move(int* data, int* flags) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  const int own = data[i];
  __syncthreads();
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
    }
    atomicExch(&flags[blockIdx.x], 1);
  }
  __syncthreads();
  if (blockIdx.x > 0) data[i - 32] = own;
}

int main() {
  int *data, *flags;
  cudaMalloc(&data, 128 * sizeof(int));
  cudaMalloc(&flags, 4 * sizeof(int));
  cudaMemset(data, 1, 128 * sizeof(int));
  cudaMemset(flags, 0, 4 * sizeof(int));
  move<<<4, 32>>>(data, flags);
  return cudaDeviceSynchronize();
}
