__global__ void sum(int* out, int n) {
  const int t = threadIdx.x;
  int value = t < n ? t : 0;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffff, value, step);
  if (t == 0) *out = value;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  sum<<<1, 32>>>(out, 24);
  return cudaDeviceSynchronize();
}
