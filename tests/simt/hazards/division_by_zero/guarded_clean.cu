__global__ void rest(int* out, int n) {
  const int by = int(threadIdx.x) - 5;
  out[threadIdx.x] = by == 0 ? 0 : n % by + n / by;
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  rest<<<1, 32>>>(out, 100);
  return cudaDeviceSynchronize();
}
