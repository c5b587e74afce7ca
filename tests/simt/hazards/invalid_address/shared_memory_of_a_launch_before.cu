// A block leaves the address of what it has in shared memory, which goes with it.
__device__ int* left;

__global__ void leave() {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  left = tile;
}

__global__ void read(int* out) { out[threadIdx.x] = left[threadIdx.x]; }

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  leave<<<1, 1>>>();
  read<<<1, 32>>>(out);
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
