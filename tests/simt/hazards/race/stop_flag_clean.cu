// Volatile accesses are strong: a flag that hands nothing on needs no more.
__global__ void find(const int* in, volatile int* found, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n && !*found;
       i += gridDim.x * blockDim.x) {
    if (in[i] == 1) *found = i + 1;
  }
}

int main() {
  int *in, *found;
  cudaMalloc(&in, 1024 * sizeof(int));
  cudaMalloc(&found, sizeof(int));
  cudaMemset(in, 0, 1024 * sizeof(int));
  cudaMemset(&in[77], 1, 1);
  cudaMemset(found, 0, sizeof(int));
  find<<<4, 64>>>(in, found, 1024);
  return cudaDeviceSynchronize();
}
