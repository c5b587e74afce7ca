// The host counts beside the kernel, both by atomics of the whole system.
__global__ void count(int* counts) {
  atomicAdd_system(&counts[0], 1);
  atomicExch_system(&counts[2048], threadIdx.x);
}

int main() {
  int* counts;
  cudaMallocManaged(&counts, 4096 * sizeof(int));
  counts[0] = counts[2048] = 0;
  count<<<1, 64>>>(counts);
  __sync_fetch_and_add(&counts[0], 1);
  __sync_lock_test_and_set(&counts[2048], 64);
  cudaDeviceSynchronize();
  return counts[0] == 65 ? 0 : 1;
}
