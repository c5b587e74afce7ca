// One block waits for the host, and the others wait for it, in memory of the device.
__global__ void wait_for(const volatile int* flag, int* go, int* out) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) {
      while (*flag == 0) {
      }
      atomicExch(go, 1);
    } else {
      while (atomicAdd(go, 0) == 0) {
      }
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main() {
  int *flag, *go, *out;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMalloc(&go, sizeof(int));
  cudaMalloc(&out, 4 * 64 * sizeof(int));
  cudaMemset(go, 0, sizeof(int));
  *flag = 0;
  wait_for<<<4, 64>>>(flag, go, out);
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  return cudaDeviceSynchronize();
}
