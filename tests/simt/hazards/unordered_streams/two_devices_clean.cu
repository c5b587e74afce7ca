// The second device's stream waits for an event of the first one's default stream.
__global__ void fill(int* out) { out[threadIdx.x] = 1; }

int main() {
  int *first, *second;
  cudaEvent_t is_filled;
  cudaMalloc(&first, 32 * sizeof(int));
  cudaEventCreate(&is_filled);
  cudaSetDevice(1);
  cudaMalloc(&second, 32 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaSetDevice(0);
  fill<<<1, 32>>>(first);
  cudaEventRecord(is_filled);
  cudaSetDevice(1);
  cudaStreamWaitEvent(stream, is_filled);
  cudaMemcpyPeerAsync(second, 1, first, 0, 32 * sizeof(int), stream);
  return cudaDeviceSynchronize();
}
