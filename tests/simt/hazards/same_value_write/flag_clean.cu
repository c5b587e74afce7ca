__global__ void any(const int* in, int* found) {
  const int is = __syncthreads_or(in[threadIdx.x] == 0);
  if (threadIdx.x == 0) *found = is;
}

int main() {
  int *in, *found;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&found, sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  any<<<1, 64>>>(in, found);
  return cudaDeviceSynchronize();
}
