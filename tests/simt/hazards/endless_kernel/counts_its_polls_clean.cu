// Who waits for the host writes between its questions, so that what it reads is never the same.
__global__ void wait_for(const volatile int* flag, volatile int* parity) {
  while (*flag == 0) *parity = 1 - *parity;
}

int main() {
  int* flag;
  cudaMallocManaged(&flag, 2 * sizeof(int));
  flag[0] = flag[1] = 0;
  wait_for<<<1, 1>>>(flag, flag + 1);
  *static_cast<volatile int*>(flag) = 1;
  return cudaDeviceSynchronize();
}
