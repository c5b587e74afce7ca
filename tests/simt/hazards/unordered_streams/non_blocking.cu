// The default stream does not wait for a non-blocking one.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  fill<<<1, 32, 0, stream>>>(data);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize();
}
