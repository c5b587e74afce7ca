__global__ void fill(int* data) { data[threadIdx.x] = 1; }

int main() {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t is_there;
  cudaEventCreate(&is_there);
  int* data;
  for (int i = 0; i < 3; ++i) {
    cudaMallocAsync(&data, 64 * sizeof(int), one);
    cudaEventRecord(is_there, one);
    cudaStreamWaitEvent(other, is_there, 0);
    fill<<<1, 64, 0, other>>>(data);
    cudaFreeAsync(data, other);
  }
  return cudaDeviceSynchronize();
}
