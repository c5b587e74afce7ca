// All lanes read the same element, and some of them use it.
__global__ void one(int* out, int from) {
  __shared__ int value[1];
  const int t = threadIdx.x;
  if (t > from) value[0] = from;
  __syncthreads();
  const int its = value[0];
  if (t >= 20 && its == 3) out[0] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  one<<<1, 32>>>(out, 100);
  return cudaDeviceSynchronize();
}
