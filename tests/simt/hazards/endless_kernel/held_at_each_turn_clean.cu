// Who waits looks for work, and holds a lock while it looks: the other block gets that lock now and then.
__device__ int lock[2], work[2] = {1, 1};

__device__ void look(int i) {
  while (atomicCAS(&lock[i], 0, 1) != 0) {
  }
  __threadfence();
  __threadfence();
  atomicExch(&lock[i], 0);
}

__global__ void finish(int rounds) {
  int i = blockIdx.x;
  for (int round = 0; round < rounds; ++round) {
    look(i);
    if (round == 1) atomicExch(&work[blockIdx.x], 0);
    while (round == rounds - 1 && (atomicAdd(&work[0], 0) > 0 || atomicAdd(&work[1], 0) > 0)) {
      i = (i + 1) % 2;
      look(i);
    }
    i = (i + 1) % 2;
  }
}

int main() {
  finish<<<2, 1>>>(3);
  return cudaDeviceSynchronize();
}
