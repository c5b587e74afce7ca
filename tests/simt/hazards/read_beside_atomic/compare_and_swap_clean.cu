// The first guess is compared with what is there.
__global__ void maximum(const int* in, int* top) {
  const int mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  int old = *top, seen;
  do {
    seen = old;
    if (seen >= mine) break;
    old = atomicCAS(top, seen, mine);
  } while (old != seen);
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
