// The last round is not for all threads.
__global__ void sum(const int* in, int* out, int n) {
  __shared__ int part[64];
  part[threadIdx.x] = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    part[threadIdx.x] += in[i];
    __syncthreads();
  }
  out[threadIdx.x] = part[threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 100 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 100 * sizeof(int));
  sum<<<1, 64>>>(in, out, 100);
  return cudaDeviceSynchronize();
}
