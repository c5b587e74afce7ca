// The same within a block, where no barrier lies between.
__global__ void count(unsigned long long* out) {
  __shared__ unsigned long long both;
  if (threadIdx.x == 0) both = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    atomicAdd(&both, 1ull);
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(&both) + 1, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = both;
}

int main() {
  unsigned long long* out;
  cudaMalloc(&out, sizeof *out);
  count<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
