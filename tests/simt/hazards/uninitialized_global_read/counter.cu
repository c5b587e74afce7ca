__global__ void count(int* counter) { atomicAdd(counter, 1); }

int main() {
  int* counter;
  cudaMalloc(&counter, sizeof(int));
  count<<<1, 32>>>(counter);
  return cudaDeviceSynchronize();
}
