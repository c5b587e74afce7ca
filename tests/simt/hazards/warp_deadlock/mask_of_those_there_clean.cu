__global__ void vote(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __any_sync(0xffff, threadIdx.x == 3);
}

int main() {
  int* out;
  cudaMalloc(&out, 16 * sizeof(int));
  vote<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
