__global__ void stop(int n) {
  if (threadIdx.x == n) __trap();
}

int main() {
  stop<<<1, 32>>>(32);
  return cudaDeviceSynchronize();
}
