__device__ __noinline__ int* squares(const int* in) {
  int own[4];
  for (int k = 0; k < 4; ++k) own[k] = in[k] * in[k];
  int* its = own;
  asm volatile("" : "+l"(its) : : "memory");
  return its;
}

__global__ void pick(const int* in, int* out) {
  const int* const its = squares(in);
  out[threadIdx.x] = its[in[threadIdx.x]];
}

int main() {
  const int host[4] = {0, 1, 2, 3};
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  pick<<<1, 4>>>(in, out);
  return cudaDeviceSynchronize();
}
