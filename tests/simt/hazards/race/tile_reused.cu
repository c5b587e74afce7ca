// The barrier at the end of the loop is missing: the next tile overwrites what others still read.
__global__ void sums(const int* in, int* out, int tiles) {
  __shared__ int tile[64];
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    tile[threadIdx.x] = in[64 * i + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 256 * sizeof(int));
  sums<<<1, 64>>>(in, out, 4);
  return cudaDeviceSynchronize();
}
