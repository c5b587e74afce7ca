__global__ void add(int* data) { data[threadIdx.x] += 1; }

int main() {
  int *data, *host;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMallocHost(&host, 32 * sizeof(int));
  cudaMemcpyAsync(data, host, 32 * sizeof(int), cudaMemcpyHostToDevice);
  host[3] = 1;
  add<<<1, 32>>>(data);
  return cudaDeviceSynchronize();
}
