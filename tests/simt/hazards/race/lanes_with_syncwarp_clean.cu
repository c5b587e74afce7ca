__global__ void sum(int* out) {
  __shared__ int part[32];
  const int t = threadIdx.x;
  part[t] = t;
  for (int step = 16; step > 0; step /= 2) {
    __syncwarp();
    if (t < step) part[t] += part[t + step];
  }
  if (t == 0) *out = part[0];
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  sum<<<1, 32>>>(out);
  return cudaDeviceSynchronize();
}
