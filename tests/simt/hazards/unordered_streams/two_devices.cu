// Each device has a default stream of its own: nothing orders the second device's copy behind the first one's kernel.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int *first, *second;
  cudaMalloc(&first, 32 * sizeof(int));
  cudaSetDevice(1);
  cudaMalloc(&second, 32 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaSetDevice(0);
  fill<<<1, 32>>>(first);
  cudaSetDevice(1);
  cudaMemcpyPeerAsync(second, 1, first, 0, 32 * sizeof(int), stream);
  return cudaDeviceSynchronize();
}
