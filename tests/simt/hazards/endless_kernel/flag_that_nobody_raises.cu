__global__ void wait(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait<<<1, 1>>>(flag);
  return cudaDeviceSynchronize();
}
