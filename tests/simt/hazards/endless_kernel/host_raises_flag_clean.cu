// The kernel waits for the host, which goes on after the launch.
__global__ void wait_for(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 42;
}

int main() {
  int *flag, *out;
  cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
  cudaMalloc(&out, sizeof(int));
  *flag = 0;
  wait_for<<<1, 1>>>(flag, out);
  *static_cast<volatile int*>(flag) = 1;
  int got = 0;
  cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got == 42 ? 0 : 1;
}
