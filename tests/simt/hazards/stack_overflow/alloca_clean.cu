__device__ int reversed(int n) {
  int* const own = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) own[n - 1 - i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += i * own[i];
  return sum;
}
__device__ __noinline__ int depths(int n) {
  if (n == 0) return 0;
  int* const own = static_cast<int*>(alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) own[i] = n;
  const int below = depths(n - 1);
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += own[i];
  return below + sum;
}
__device__ __noinline__ int many(int n) { return reversed(n); }

// What a function has allocated goes when it returns: a thousand times eighty bytes fit into a kilobyte.
__global__ void sums(int* out) {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += many(20);
  out[threadIdx.x] = sum + reversed(threadIdx.x % 5 + 1) + depths(threadIdx.x % 7);
}

int main() {
  int* out;
  int got[32];
  cudaMalloc(&out, sizeof got);
  sums<<<1, 32>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 32; ++t) {
    int expected = 0;
    for (int i = 0; i < 20; ++i) expected += 1000 * i * (19 - i);
    for (int i = 0, n = t % 5 + 1; i < n; ++i) expected += i * (n - 1 - i);
    for (int n = t % 7; n > 0; --n) expected += n * n;
    if (got[t] != expected) return 1;
  }
  return cudaDeviceSynchronize();
}
