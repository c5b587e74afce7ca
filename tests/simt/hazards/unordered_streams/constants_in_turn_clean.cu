__constant__ float weights[32];

__global__ void scale(float* data) { data[threadIdx.x] *= weights[threadIdx.x]; }

int main() {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  float *data, *next;
  cudaMalloc(&data, 32 * sizeof(float));
  cudaMemset(data, 0, 32 * sizeof(float));
  cudaMallocHost(&next, 32 * sizeof(float));
  for (int i = 0; i < 32; ++i) next[i] = 1;
  cudaMemcpyToSymbol(weights, next, sizeof weights);
  cudaDeviceSynchronize();
  scale<<<1, 32, 0, one>>>(data);
  cudaMemcpyToSymbolAsync(weights, next, sizeof weights, 0, cudaMemcpyHostToDevice, one);
  return cudaDeviceSynchronize();
}
