__global__ void stop(int n) {
  if (threadIdx.x == n) __trap();
}

int main() {
  stop<<<1, 32>>>(3);
  return cudaDeviceSynchronize();
}
