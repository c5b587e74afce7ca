// The kernel tells the host how far it is: whether the host polls that, or should have waited, nobody can see.
__global__ void work(volatile int* progress, int steps) {
  for (int i = 1; i <= steps; ++i) *progress = i;
}

int main() {
  int* progress;
  cudaHostAlloc(&progress, sizeof(int), cudaHostAllocMapped);
  *progress = 0;
  work<<<1, 1>>>(progress, 100);
  while (*static_cast<volatile int*>(progress) < 100) {
  }
  return cudaDeviceSynchronize();
}
