__device__ int shared_number = 1000;
static __device__ int own_number = 7;
static __device__ int own(int x) { return x * own_number; }

__device__ int twice(int x) { return 2 * x; }

static __global__ void kernel(int* out) { *out = own(6); }

int number_of_other() {
  int *out, value = 0;
  cudaMalloc(&out, sizeof value);
  kernel<<<1, 1>>>(out);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  return value;
}
