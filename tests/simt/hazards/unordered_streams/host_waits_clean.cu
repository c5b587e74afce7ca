__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int* data;
  cudaMallocManaged(&data, 32 * sizeof(int));
  fill<<<1, 32>>>(data);
  cudaDeviceSynchronize();
  data[1] = data[0];
  return data[1] - 1;
}
