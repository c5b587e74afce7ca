// Two of the three warps are enough for the barrier: the third one waits for another that never comes.
__global__ void reverse(int* out) {
  __shared__ int tile[96];
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("bar.sync 1, 64;" ::: "memory");
  out[threadIdx.x] = tile[95 - threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 96 * sizeof(int));
  reverse<<<1, 96>>>(out);
  return cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}
