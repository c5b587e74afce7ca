// The test saves atomics. Though the maximum is right on a GPU, the memory model promises nothing of such a read.
__global__ void maximum(const int* in, int* top) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (*top < in[i]) atomicMax(top, in[i]);
}

int main() {
  int host[64], *in, *top;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&top, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(top, 0, sizeof(int));
  maximum<<<2, 32>>>(in, top);
  return cudaDeviceSynchronize();
}
