// A GPU that has not loaded a kernel may wait for the one that waits for the host.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void set(int* data) { *data = 1; }

int main() {
  int *flag, *data;
  cudaMallocHost(&flag, sizeof(int));
  cudaMalloc(&data, sizeof(int));
  *flag = 0;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  wait_for<<<1, 1, 0, s>>>(flag);
  set<<<1, 1, 0, t>>>(data);
  set<<<1, 1, 0, t>>>(data);
  *static_cast<volatile int*>(flag) = 1;
  return cudaDeviceSynchronize();
}
