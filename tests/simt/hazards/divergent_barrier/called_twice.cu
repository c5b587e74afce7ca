// Half of the block calls it here, half there: the barrier is one in the source, and not one for the block.
__device__ void exchange(int* value) {
  const int mine = value[threadIdx.x];
  __syncthreads();
  value[63 - threadIdx.x] = mine;
}

__global__ void part(int* out) {
  __shared__ int value[64];
  value[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 32) {
    exchange(value);
  } else {
    exchange(value);
  }
  __syncthreads();
  out[threadIdx.x] = value[threadIdx.x];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  part<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
