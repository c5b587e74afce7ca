// Atomics of 32 and of 64 bits on the same bytes are atomic to each other: PTX promises it whatever their sizes.
__global__ void count(unsigned long long* both) {
  if (blockIdx.x == 0) atomicAdd(reinterpret_cast<unsigned*>(both), 1u);
  if (blockIdx.x == 1) atomicAdd(both, 1ull << 32);
}

int main() {
  unsigned long long* both;
  cudaMalloc(&both, sizeof *both);
  cudaMemset(both, 0, sizeof *both);
  count<<<2, 32>>>(both);
  return cudaDeviceSynchronize();
}
