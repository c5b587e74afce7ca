__global__ void blur(const int* in, int* out, int n) {
  __shared__ int tile[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[threadIdx.x ^ 1];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 100 * sizeof(int));
  cudaMalloc(&out, 100 * sizeof(int));
  cudaMemset(in, 0, 100 * sizeof(int));
  blur<<<2, 64>>>(in, out, 100);
  return cudaDeviceSynchronize();
}
