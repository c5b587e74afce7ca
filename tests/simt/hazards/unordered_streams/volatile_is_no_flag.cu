// A volatile array is read as data: nothing is known by that of the copy that fills it.
__global__ void copy(const volatile int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }

int main() {
  int *host, *data, *out;
  cudaMallocHost(&host, 32 * sizeof(int));
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  cudaMemcpyAsync(data, host, 32 * sizeof(int), cudaMemcpyHostToDevice, s);
  copy<<<1, 32, 0, t>>>(data, out);
  return cudaDeviceSynchronize();
}
