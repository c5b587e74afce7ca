__device__ __noinline__ int sum(const int* a, int n) {
  int its = 0;
  for (int i = 0; i < n; ++i) its += a[i];
  return its;
}

__global__ void pick(int* out, int n) {
  int a[4] = {1, 2, 3, 4}, b[8] = {5, 6, 7, 8};
  b[n] = 9;
  a[n & 3] = b[n + 1];
  out[0] = sum(a + 1, 3) + sum(b + 3, 5);
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  pick<<<1, 1>>>(out, 6);
  return cudaDeviceSynchronize();
}
