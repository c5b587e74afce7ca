// Counted up before anything is in it: nvcc makes nothing of that, and with -G the register comes from itself.
__global__ void positive(const int* in, int* out) {
  int count;
  int* const at = &count;
  for (int i = 0; i < 10; ++i) {
    if (in[i] > 0) *at = *at + 1;
  }
  atomicAdd(out, *at);
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 10 * sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(in, 0, 10 * sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  positive<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
