// The neighbour's element is read while its thread writes it.
__global__ void blur(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) data[i] = data[i] + data[i + 1];
}

int main() {
  int* data;
  cudaMalloc(&data, 128 * sizeof(int));
  cudaMemset(data, 0, 128 * sizeof(int));
  blur<<<4, 32>>>(data, 128);
  return cudaDeviceSynchronize();
}
