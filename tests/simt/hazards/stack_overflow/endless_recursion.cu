__device__ __noinline__ int depth(int n, volatile int* stop) {
  return *stop ? n : depth(n + 1, stop) + 1;
}

__global__ void count(int* out) { out[0] = depth(0, out); }

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  count<<<1, 1>>>(out);
  return cudaDeviceSynchronize();
}
