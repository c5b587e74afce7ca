// The mask names lanes that take the other way, to a barrier.
__global__ void vote(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __any_sync(0xffffffff, threadIdx.x == 3);
  } else {
    __syncthreads();
  }
  __syncthreads();
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  vote<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
