__device__ __noinline__ int* squares(const int* in, int* to) {
  for (int k = 0; k < 4; ++k) to[k] = in[k] * in[k];
  asm volatile("" : "+l"(to) : : "memory");
  return to;
}

// Calls itself, with an array of each caller.
__device__ __noinline__ int depth(const int* in, const int* before, int left) {
  int own[4];
  for (int k = 0; k < 4; ++k) own[in[k]] = before[in[k]] + 1;
  return left == 0 ? own[in[threadIdx.x]] : depth(in, own, left - 1) + before[in[threadIdx.x]];
}

__global__ void pick(const int* in, int* out) {
  int own[4];
  const int* const its = squares(in, own);
  out[threadIdx.x] = its[in[threadIdx.x]] + depth(in, its, 3);
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
