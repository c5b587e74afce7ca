// What one thread stores and what the others load is in one register of nvcc's.
__global__ void answer(const int* in, int* out) {
  __shared__ int best;
  int its;
  if (threadIdx.x == 0) {
    its = 2 * in[0];
    best = its;
  }
  // Here __syncthreads() is missing.
  if (threadIdx.x != 0) its = best;
  out[threadIdx.x] = its;
}

int main() {
  int *in, *out;
  cudaMalloc(&in, sizeof(int));
  cudaMemset(in, 0, sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  answer<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize();
}
