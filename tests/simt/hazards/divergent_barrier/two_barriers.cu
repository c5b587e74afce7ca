// Both branches have a barrier, but it is not the same one.
__global__ void part(int* out) {
  __shared__ int value[2];
  if (threadIdx.x < 32) {
    value[0] = 1;
    __syncthreads();
    out[threadIdx.x] = value[1];
  } else {
    value[1] = 2;
    __syncthreads();
    out[threadIdx.x] = value[0];
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  part<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
