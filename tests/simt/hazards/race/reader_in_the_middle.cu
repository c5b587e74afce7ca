// Lanes 0 to 2 read; the mask leaves lane 1 out.
__global__ void pass(int* out) {
  __shared__ int value;
  const int t = threadIdx.x;
  if (t == 0) value = 5;
  __syncthreads();
  if (t < 3) out[t] = value;
  if (t == 0 || t == 2 || t == 3) __syncwarp(0b1101);
  if (t == 3) value = 6;
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  pass<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
