__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaFree(out);
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
