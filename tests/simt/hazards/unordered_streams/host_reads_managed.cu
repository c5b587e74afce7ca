__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* data;
  cudaMallocManaged(&data, 32 * sizeof(int));
  fill<<<1, 32>>>(data);
  const int first = data[0];
  return cudaDeviceSynchronize() + (first - first);
}
