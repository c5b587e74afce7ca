// A kernel of the first device reads memory of the second, which was not opened to it.
__global__ void add(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }

int main() {
  int *first, *second;
  cudaMalloc(&first, 32 * sizeof(int));
  cudaMemset(first, 0, 32 * sizeof(int));
  cudaSetDevice(1);
  cudaMalloc(&second, 32 * sizeof(int));
  cudaMemset(second, 0, 32 * sizeof(int));
  cudaSetDevice(0);
  add<<<1, 32>>>(first, second);
  return cudaDeviceSynchronize();
}
