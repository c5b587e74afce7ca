// Threads count in the same elements, with a load and a store.
__global__ void histogram(const unsigned char* input, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[input[i]]++;
}

int main() {
  unsigned char* input;
  int* counts;
  cudaMalloc(&input, 128);
  cudaMalloc(&counts, 256 * sizeof(int));
  cudaMemset(input, 7, 128);
  cudaMemset(counts, 0, 256 * sizeof(int));
  histogram<<<1, 128>>>(input, counts, 128);
  return cudaDeviceSynchronize();
}
