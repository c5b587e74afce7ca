// Each word is updated by atomics of one size, or a barrier lies between those of two.
__global__ void count(unsigned long long* wide, unsigned* narrow, unsigned long long* both) {
  __shared__ unsigned long long own;
  if (threadIdx.x == 0) own = 0;
  __syncthreads();
  atomicAdd(wide, 1ull);
  atomicAdd(narrow, 1u);
  atomicMax(reinterpret_cast<int*>(narrow), 1);
  atomicAdd(&own, 1ull);
  __syncthreads();
  atomicAdd(reinterpret_cast<unsigned*>(&own), 1u);
  if (blockIdx.x == 0) {
    atomicAdd(both, 1ull);
    __syncthreads();
    atomicAdd(reinterpret_cast<unsigned*>(both) + threadIdx.x % 2, 1u);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(wide, own);
}

int main() {
  unsigned long long *wide, *both;
  unsigned* narrow;
  cudaMalloc(&wide, sizeof *wide);
  cudaMalloc(&narrow, sizeof *narrow);
  cudaMalloc(&both, sizeof *both);
  cudaMemset(wide, 0, sizeof *wide);
  cudaMemset(narrow, 0, sizeof *narrow);
  cudaMemset(both, 0, sizeof *both);
  count<<<4, 128>>>(wide, narrow, both);
  return cudaDeviceSynchronize();
}
