__global__ void fill(int* out) { out[threadIdx.x] = 1; }
__global__ void twice(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main() {
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEvent_t filled;
  cudaEventCreate(&filled);
  int *in, *out;
  cudaMalloc(&in, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(int));
  fill<<<1, 32, 0, first>>>(in);
  cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  twice<<<1, 32, 0, second>>>(in, out);
  return cudaDeviceSynchronize();
}
