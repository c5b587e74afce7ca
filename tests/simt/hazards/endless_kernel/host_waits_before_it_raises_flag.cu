__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  wait_for<<<2, 32>>>(flag);
  const cudaError_t error = cudaDeviceSynchronize();
  *flag = 1;
  return error == cudaErrorLaunchTimeout ? 0 : 1;
}
