__global__ void sum(int* out, int n) {
  const int t = threadIdx.x;
  if (t >= n) return;
  int value = t;
  for (int step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync((1u << n) - 1, value, step);
    if (t + step < n) value += other;
  }
  if (t == 0) *out = value;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  sum<<<1, 32>>>(out, 24);
  int got;
  cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost);
  return got != 24 * 23 / 2;
}
