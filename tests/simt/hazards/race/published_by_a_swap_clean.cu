// What a compare-and-swap counts up hands on what was written before it.
__global__ void pass(int* counter, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    out[0] = 42;
    __threadfence();
    int seen = *static_cast<volatile int*>(counter + 1), found;
    while ((found = atomicCAS(counter, seen, seen + 1)) != seen) seen = found;
  } else {
    while (*static_cast<volatile int*>(counter) == 0) {
    }
    __threadfence();
    out[1] = out[0];
  }
}

int main() {
  int *counter, *out;
  cudaMalloc(&counter, 2 * sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMemset(counter, 0, 2 * sizeof(int));
  pass<<<2, 32>>>(counter, out);
  return cudaDeviceSynchronize();
}
