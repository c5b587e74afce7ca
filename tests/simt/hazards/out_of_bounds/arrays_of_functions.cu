__device__ __noinline__ int get(const int* a, int i) { return a[i]; }
__device__ __noinline__ int own(const int* in, int i) {
  int a[4], b[4];
  for (int k = 0; k < 4; ++k) a[in[k]] = b[in[k]] = k;
  return a[i] + b[in[i & 3]];
}

__global__ void sum(const int* in, int* out, int n) {
  __shared__ int tile[4], next[4];
  int a[4], b[4];
  for (int k = 0; k < 4; ++k) a[in[k]] = b[in[k]] = k;
  for (int k = 0; k < 4; ++k) tile[k] = next[k] = 1;
  __syncthreads();
  switch (blockIdx.x) {
    case 0:
      out[blockIdx.x] = get(a, n) + b[in[0]];
      break;
    case 1:
      out[blockIdx.x] = get(tile, n) + next[0];
      break;
    default:
      out[blockIdx.x] = own(in, n);
  }
}

int main() {
  const int host[4] = {0, 1, 2, 3};
  int *in, *out;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<3, 1>>>(in, out, 4);
  return cudaDeviceSynchronize();
}
