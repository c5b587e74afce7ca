// The host counts beside the kernel, whose atomics are so to the device only.
__global__ void count(int* counts) { atomicAdd(&counts[0], 1); }

int main() {
  int* counts;
  cudaMallocManaged(&counts, sizeof(int));
  counts[0] = 0;
  count<<<1, 64>>>(counts);
  __sync_fetch_and_add(&counts[0], 1);
  return cudaDeviceSynchronize();
}
