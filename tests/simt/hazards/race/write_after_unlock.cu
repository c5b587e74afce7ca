// The lock orders what lies between its two ends only.
__device__ int lock;

__global__ void take_turns(int* data, int* out) {
  while (atomicCAS(&lock, 0, 1) != 0) {
  }
  __threadfence();
  if (blockIdx.x == 1) *out = data[0];
  __threadfence();
  atomicExch(&lock, 0);
  if (blockIdx.x == 0) data[0] = 1;
}

int main() {
  int *data, *out;
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(data, 0, sizeof(int));
  take_turns<<<2, 1>>>(data, out);
  return cudaDeviceSynchronize();
}
