// What is put behind a kernel that waits for the host waits as well, and another stream does not.
__global__ void wait_for(const volatile unsigned* latch, unsigned wanted) {
  while (*latch < wanted) {
  }
}

__global__ void add(int* data, int n, int more) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] += more;
}

__host__ void count(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  constexpr int n = 1000;
  unsigned* latch;
  int *host, *a, *b;
  cudaMallocHost(&latch, sizeof(unsigned));
  cudaMallocHost(&host, n * sizeof(int));
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  *latch = 0;
  for (int i = 0; i < n; ++i) host[i] = i;
  int calls = 0;
  // Or its first launch waits for what runs, to load it: CUDA loads kernels lazily.
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, add);
  wait_for<<<1, 1, 0, s>>>(latch, 1);
  cudaEventRecord(begin, s);
  cudaMemcpyAsync(a, host, n * sizeof(int), cudaMemcpyHostToDevice, s);
  add<<<4, 256, 0, s>>>(a, n, 1);
  wait_for<<<1, 1, 0, s>>>(latch, 2);
  add<<<4, 256, 0, s>>>(a, n, 1);
  cudaLaunchHostFunc(s, count, &calls);
  cudaMemcpyAsync(host, a, n * sizeof(int), cudaMemcpyDeviceToHost, s);
  cudaEventRecord(end, s);
  cudaMemsetAsync(b, 0, n * sizeof(int), t);
  add<<<4, 256, 0, t>>>(b, n, 7);
  if (cudaStreamSynchronize(t) != cudaSuccess) return 1;
  cudaStreamWaitEvent(t, end);
  add<<<4, 256, 0, t>>>(a, n, 1);
  if (cudaStreamQuery(s) != cudaErrorNotReady || cudaEventQuery(end) != cudaErrorNotReady) return 2;
  *static_cast<volatile unsigned*>(latch) = 1;
  if (cudaEventSynchronize(begin) != cudaSuccess || calls != 0) return 3;
  *static_cast<volatile unsigned*>(latch) = 2;
  if (cudaStreamSynchronize(s) != cudaSuccess || calls != 1 || host[999] != 1001) return 4;
  float milliseconds;
  if (cudaEventElapsedTime(&milliseconds, begin, end) != cudaSuccess) return 5;
  cudaMemcpy(host, a, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(host + 1, b, sizeof(int), cudaMemcpyDeviceToHost);
  return host[999] == 1002 && host[1] == 7 ? 0 : 6;
}
