__global__ void number(int* count, int* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(count, 1);
}

int main() {
  int *count, *out;
  cudaMalloc(&count, sizeof(int));
  cudaMalloc(&out, 128 * sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  number<<<2, 64>>>(count, out);
  return cudaDeviceSynchronize();
}
