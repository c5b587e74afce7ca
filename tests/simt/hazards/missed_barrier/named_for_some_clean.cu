__global__ void reverse(const int* in, int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t < 64) {
    tile[t] = in[t];
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = tile[63 - t];
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  reverse<<<1, 96>>>(in, out);
  return cudaDeviceSynchronize();
}
