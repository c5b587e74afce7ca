__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i;
}

int main() {
  int *out, host[100];
  cudaMalloc(&out, sizeof host);
  fill<<<100 / 32, 32>>>(out, 100);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize();
}
