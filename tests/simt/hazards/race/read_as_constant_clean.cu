// __ldg() of what an earlier launch has written, and of what the thread itself overwrites later; neighbours in the same
// array are written in this launch.
__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

__global__ void shift(int* values) {
  const int before = __ldg(values + threadIdx.x);
  values[threadIdx.x] = before + 1;
  __syncthreads();
  values[threadIdx.x + 64] = values[threadIdx.x ^ 1] + __ldg(values + threadIdx.x + 128);
}

int main() {
  int* values;
  cudaMalloc(&values, 192 * sizeof(int));
  fill<<<1, 192>>>(values);
  shift<<<1, 64>>>(values);
  return cudaDeviceSynchronize();
}
