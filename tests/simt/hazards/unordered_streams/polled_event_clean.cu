__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  int* data;
  cudaMallocManaged(&data, 32 * sizeof(int));
  fill<<<1, 32, 0, stream>>>(data);
  cudaEventRecord(filled, stream);
  while (cudaEventQuery(filled) != cudaSuccess) {
  }
  return data[0] - 1;
}
