__global__ void add(int* sum) {
  if (threadIdx.x == 0) *sum = 0;
  atomicAdd(sum, 1);
}

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  add<<<1, 64>>>(sum);
  return cudaDeviceSynchronize();
}
