// A thread that leaves the array ends there; the others go on, and so does the search.
__global__ void fill(int* out, int* sum, int n) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
  sum[0] = sum[0] + n;
}

int main() {
  int *out, *sum;
  cudaMalloc(&out, 60 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  fill<<<2, 32>>>(out, sum, 1);
  return cudaDeviceSynchronize();
}
