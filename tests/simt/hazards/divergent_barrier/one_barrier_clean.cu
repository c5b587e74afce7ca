__global__ void part(int* out) {
  __shared__ int value[2];
  if (threadIdx.x % 32 == 0) value[threadIdx.x / 32] = 1;
  __syncthreads();
  out[threadIdx.x] = value[1 - threadIdx.x / 32];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  part<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
