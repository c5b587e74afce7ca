// A grid's barrier of one's own, in which one thread arrives for a block that it has not waited for.
__device__ unsigned arrived;

__device__ void meet() {
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned*)&arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void reverse(int* from, int* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  from[i] = static_cast<int>(i);
  meet();
  to[i] = from[gridDim.x * blockDim.x - 1 - i];
}

int main() {
  int *from, *to;
  cudaMalloc(&from, 256 * sizeof(int));
  cudaMalloc(&to, 256 * sizeof(int));
  reverse<<<4, 64>>>(from, to);
  return cudaDeviceSynchronize();
}
