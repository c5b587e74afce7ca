// A volatile flag is raised before the volatile value that it announces.
__global__ void hand_on(volatile int* flag, volatile int* value, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *flag = 1;
    __threadfence();
    *value = 42;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *value;
  }
}

int main() {
  int *flag, *value, *out;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&value, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaMemset(value, 0, sizeof(int));
  hand_on<<<2, 32>>>(flag, value, out);
  return cudaDeviceSynchronize();
}
