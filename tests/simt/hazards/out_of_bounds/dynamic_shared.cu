__global__ void fill(int* out) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x + 1] = 1;
  __syncthreads();
  out[threadIdx.x] = dynamic[threadIdx.x + 1];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  fill<<<1, 64, 64 * sizeof(int)>>>(out);
  return cudaDeviceSynchronize();
}
