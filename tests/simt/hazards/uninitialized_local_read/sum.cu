__global__ void count(const int* in, int* out, int n) {
  int bins[8];
  for (int k = 0; k < n; ++k) ++bins[in[k] & 7];  // from what is there
  int most = 0;
  for (int k = 1; k < 8; ++k) {
    if (bins[in[k]] > bins[most]) most = in[k];
  }
  out[threadIdx.x] = most;
}

int main() {
  int host[16], *in, *out;
  for (int k = 0; k < 16; ++k) host[k] = k;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  count<<<1, 1>>>(in, out, 7);
  return cudaDeviceSynchronize();
}
