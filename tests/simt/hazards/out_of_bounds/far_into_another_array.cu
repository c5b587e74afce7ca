__global__ void fill(int* out, int n) { out[threadIdx.x + n] = 1; }

int main() {
  int *out, *other;
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMalloc(&other, 4096 * sizeof(int));
  fill<<<1, 32>>>(out, 300);
  return cudaDeviceSynchronize();
}
