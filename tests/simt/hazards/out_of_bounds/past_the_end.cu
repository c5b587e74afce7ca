__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* out;
  cudaMalloc(&out, 31 * sizeof(int));
  fill<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
