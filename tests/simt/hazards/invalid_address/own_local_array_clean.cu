__global__ void keep(const int* in, int* out) {
  __shared__ const int* lists[4];
  int own[4];
  for (int k = 0; k < 4; ++k) own[in[k]] = k * static_cast<int>(threadIdx.x);
  lists[threadIdx.x] = own;
  __syncthreads();
  // Of all of them only its own is gone by.
  for (int k = 0; k < 4; ++k) {
    const int* const its = lists[in[k]];
    if (in[k] == static_cast<int>(threadIdx.x)) out[threadIdx.x] = its[in[threadIdx.x]];
  }
}

int main() {
  const int host[4] = {0, 1, 2, 3};
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  keep<<<1, 4>>>(in, out);
  return cudaDeviceSynchronize();
}
