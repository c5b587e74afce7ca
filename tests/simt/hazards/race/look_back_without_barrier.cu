// Blocks move their elements forward in place. The thread that raises the flag has not waited for what the others read.
__global__ void move(int* data, int* flags) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  const int own = data[i];
  if (threadIdx.x == 0) {
    while (blockIdx.x > 0 && atomicAdd(&flags[blockIdx.x - 1], 0) == 0) {
    }
    atomicExch(&flags[blockIdx.x], 1);
  }
  __syncthreads();
  if (blockIdx.x > 0) data[i - 64] = own;
}

int main() {
  int *data, *flags;
  cudaMalloc(&data, 256 * sizeof(int));
  cudaMalloc(&flags, 4 * sizeof(int));
  cudaMemset(data, 1, 256 * sizeof(int));
  cudaMemset(flags, 0, 4 * sizeof(int));
  move<<<4, 64>>>(data, flags);
  return cudaDeviceSynchronize();
}
