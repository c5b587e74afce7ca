// Both blocks are resident.
__global__ void pass(int* flag) {
  if (blockIdx.x == 1) {
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  pass<<<2, 1>>>(flag);
  return cudaDeviceSynchronize();
}
