__global__ void share(const int* in, int* out) {
  __shared__ const int* first;
  int own[4];
  for (int k = 0; k < 4; ++k) own[in[k]] = k * static_cast<int>(threadIdx.x);
  if (threadIdx.x == 0) first = own;
  __syncthreads();
  out[threadIdx.x] = first[in[threadIdx.x]];
}

int main() {
  const int host[4] = {0, 1, 2, 3};
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  share<<<1, 4>>>(in, out);
  return cudaDeviceSynchronize();
}
