__global__ void add(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

int main() {
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(in, 0, 30 * sizeof(int));
  add<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
