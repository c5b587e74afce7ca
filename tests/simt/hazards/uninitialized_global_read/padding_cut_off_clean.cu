// Padding comes along with the number that a word is read for, as in CUB's loads of structures.
struct Best {
  int value;
  long long index;
};

__global__ void find(Best* all) {
  all[threadIdx.x].value = threadIdx.x % 5;
  all[threadIdx.x].index = threadIdx.x;
}

__device__ long long word(const void* at) {
  long long its;
  asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(its) : "l"(at));
  return its;
}

__global__ void count(const Best* all, int* large) {
  if (static_cast<int>(word(&all[threadIdx.x])) > 3) atomicAdd(large, 1);
}

int main() {
  Best* all;
  int* large;
  cudaMalloc(&all, 32 * sizeof(Best));
  cudaMalloc(&large, sizeof(int));
  cudaMemset(large, 0, sizeof(int));
  find<<<1, 32>>>(all);
  count<<<1, 32>>>(all, large);
  return cudaDeviceSynchronize();
}
