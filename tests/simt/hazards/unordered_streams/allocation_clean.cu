// Blocking streams wait for an allocation.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  int *data, *host, *other;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMallocHost(&host, 32 * sizeof(int));
  fill<<<1, 32, 0, first>>>(data);
  cudaMalloc(&other, 64);
  cudaMemcpyAsync(host, data, 32 * sizeof(int), cudaMemcpyDeviceToHost, second);
  return cudaDeviceSynchronize();
}
