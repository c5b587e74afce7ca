__global__ void first(float* out) {
  extern __shared__ float row[];
  row[threadIdx.x] = 1;
  out[threadIdx.x] = row[(threadIdx.x + 32) % 64];
}
__global__ void second(double* out) {
  extern __shared__ double column[];
  column[threadIdx.x] = 1;
  out[threadIdx.x] = column[(threadIdx.x + 32) % 64];
}

int main() {
  double* out;
  cudaMalloc(&out, 64 * sizeof(double));
  cudaMemset(out, 0, 64 * sizeof(double));
  first<<<1, 64, 64 * sizeof(float)>>>(reinterpret_cast<float*>(out));
  second<<<1, 64, 64 * sizeof(double)>>>(out);
  return cudaDeviceSynchronize();
}
