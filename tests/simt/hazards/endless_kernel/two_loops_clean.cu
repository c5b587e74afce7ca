// Lanes of one warp wait in two loops, both for a warp whose turn comes later.
__global__ void ring(int* arrived) {
  const int t = threadIdx.x;
  atomicExch(&arrived[t], 1);
  if (t < 2) {
    while (atomicAdd(&arrived[(64 + t - 1) % 64], 0) != 1) {
    }
  } else {
    while (atomicAdd_block(&arrived[t - 1], 0) != 1) {
    }
  }
  if (t < 62) {
    while (atomicAdd_block(&arrived[t + 1], 0) != 1) {
    }
  }
}

int main() {
  int* arrived;
  cudaMalloc(&arrived, 64 * sizeof(int));
  cudaMemset(arrived, 0, 64 * sizeof(int));
  ring<<<1, 64>>>(arrived);
  return cudaDeviceSynchronize();
}
