// What was there is thrown away.
__global__ void set(int* flag) { atomicExch(flag, 1); }

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  set<<<2, 1>>>(flag);
  return cudaDeviceSynchronize();
}
