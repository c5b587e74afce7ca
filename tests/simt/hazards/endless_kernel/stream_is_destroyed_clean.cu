// What is on a stream goes on when that is destroyed, and the host does not wait for it.
__global__ void wait_for(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 1;
}

int main() {
  int *flag, *out;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  *flag = *out = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  wait_for<<<1, 1, 0, stream>>>(flag, out);
  if (cudaStreamDestroy(stream) != cudaSuccess) return 1;
  *static_cast<volatile int*>(flag) = 1;
  return cudaDeviceSynchronize() == cudaSuccess && *out == 1 ? 0 : 2;
}
