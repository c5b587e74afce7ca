// The first block waits for the second, with a barrier in each round, and takes both locks again and again; their atomics
// have the scope of a block.
__device__ int locks[2], open = 1;

__global__ void both(int* out) {
  __shared__ int waits;
  for (int round = 0, which = blockIdx.x;; ++round, which ^= 1) {
    for (int i = 0; i < 16; ++i) {
      __syncwarp();
      while (threadIdx.x == 0 && atomicCAS_block(&locks[which], 0, 1) != 0) {
      }
      __threadfence();
      __syncwarp();
      atomicAdd(&out[which], 1);
      __syncwarp();
      __threadfence();
      if (threadIdx.x == 0) atomicExch_block(&locks[which], 0);
      __syncwarp();
    }
    if (threadIdx.x == 0) {
      if (blockIdx.x == 1 && round == 3) atomicExch(&open, 0);
      waits = atomicAdd(&open, 0);
    }
    __syncthreads();
    if (waits == 0) return;
    __syncthreads();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemset(out, 0, 2 * sizeof(int));
  both<<<2, 32>>>(out);
  return cudaDeviceSynchronize();
}
