// Flags in device memory, raised by what comes on another stream later: a copy, one that the host waits for, a memset, a copy
// to a variable, and a kernel.
__device__ int variable;

__global__ void wait_for(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = *flag;
}

__global__ void wait_for_variable(int* out) {
  while (atomicAdd(&variable, 0) == 0) {
  }
  *out = variable;
}

__global__ void raise(int* flag) { atomicExch(flag, 5); }

int main() {
  int *flags, *out, *one;
  cudaMalloc(&flags, 4 * sizeof(int));
  cudaMalloc(&out, 5 * sizeof(int));
  cudaMallocHost(&one, sizeof(int));
  cudaMemset(flags, 0, 4 * sizeof(int));
  *one = 1;
  cudaStream_t s, t;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  // Or its first launch waits for what runs, to load it.
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, raise);
  cudaFuncGetAttributes(&loaded, wait_for_variable);
  cudaDeviceSynchronize();
  for (int i = 0; i < 4; ++i) wait_for<<<1, 1, 0, s>>>(flags + i, out + i);
  wait_for_variable<<<1, 1, 0, s>>>(out + 4);
  if (cudaStreamQuery(s) != cudaErrorNotReady) return 1;
  cudaMemcpyAsync(flags, one, sizeof(int), cudaMemcpyHostToDevice, t);
  const int two = 2, four = 4;
  cudaMemcpy(flags + 1, &two, sizeof two, cudaMemcpyHostToDevice);
  cudaMemsetAsync(flags + 2, 3, 1, t);
  raise<<<1, 1, 0, t>>>(flags + 3);
  if (cudaStreamQuery(s) != cudaErrorNotReady) return 2;
  cudaMemcpyToSymbolAsync(variable, &four, sizeof four, 0, cudaMemcpyHostToDevice, t);
  if (cudaStreamSynchronize(s) != cudaSuccess) return 3;
  int got[5];
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got[0] == 1 && got[1] == 2 && got[2] == 3 && got[3] == 5 && got[4] == 4 ? 0 : 4;
}
