// A kernel that writes outside its array ends the device, with another that waits for the host.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void outside(int* data) { data[1 << 28] = 1; }

int main() {
  int *flag, *data;
  cudaMallocHost(&flag, sizeof(int));
  cudaMalloc(&data, sizeof(int));
  *flag = 0;
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, outside);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  wait_for<<<1, 1, 0, s>>>(flag);
  outside<<<1, 1, 0, t>>>(data);
  return cudaStreamSynchronize(t) == cudaErrorIllegalAddress ? 0 : 1;
}
