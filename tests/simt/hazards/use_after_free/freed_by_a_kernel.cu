__global__ void shared_by_a_warp(int* out) {
  __shared__ int* scratch;
  if (threadIdx.x == 0) scratch = static_cast<int*>(malloc(32 * sizeof(int)));
  __syncthreads();
  scratch[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) free(scratch);
  out[threadIdx.x] = scratch[31 - threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  shared_by_a_warp<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  return 0;
}
