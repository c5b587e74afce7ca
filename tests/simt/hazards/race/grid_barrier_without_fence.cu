__device__ unsigned arrived;

__global__ void exchange(int* data, int* out) {
  data[blockIdx.x] = blockIdx.x;
  atomicAdd(&arrived, 1);
  while (atomicAdd(&arrived, 0) < gridDim.x) {
  }
  __threadfence();
  out[blockIdx.x] = data[gridDim.x - 1 - blockIdx.x];
}

int main() {
  int *data, *out;
  cudaMalloc(&data, 4 * sizeof(int));
  cudaMalloc(&out, 4 * sizeof(int));
  exchange<<<4, 1>>>(data, out);
  return cudaDeviceSynchronize();
}
