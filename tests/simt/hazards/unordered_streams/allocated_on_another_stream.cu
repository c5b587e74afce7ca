__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main() {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  int* data;
  cudaMallocAsync(&data, 64 * sizeof(int), one);
  fill<<<1, 64, 0, other>>>(data);
  cudaDeviceSynchronize();
  cudaFreeAsync(data, one);
  return cudaDeviceSynchronize();
}
