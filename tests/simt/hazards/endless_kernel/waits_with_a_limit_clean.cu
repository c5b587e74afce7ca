// Nobody gives the lock back: who has waited for a second of the GPU's clock goes without it.
__global__ void wait(int* lock, int* has_waited) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (atomicCAS(lock, 0, 1) != 0 && now - begin < 1000000000);
  *has_waited = 1;
}

int main() {
  int *lock, *out, is_taken = 1, has_waited = 0;
  cudaMalloc(&lock, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(lock, &is_taken, sizeof(int), cudaMemcpyHostToDevice);
  wait<<<1, 1>>>(lock, out);
  cudaMemcpy(&has_waited, out, sizeof(int), cudaMemcpyDeviceToHost);
  return has_waited == 1 ? 0 : 1;
}
