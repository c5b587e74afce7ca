// Two warps, the second of them short.
__global__ void shift(int* out) {
  __shared__ int tile[41];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
  tile[(threadIdx.x + 1) % 40] = 1;
}

int main() {
  int* out;
  cudaMalloc(&out, 40 * sizeof(int));
  shift<<<1, 40>>>(out);
  return cudaDeviceSynchronize();
}
