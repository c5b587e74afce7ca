// With parts_two.cu, compiled with -rdc=true: a kernel here calls a function there; both have things of the same name.
#include <cstdio>

extern __device__ int shared_number;
__device__ int twice(int x);
int number_of_other();

static __device__ int own_number = 3;
static __device__ int own(int x) { return x + own_number; }

__global__ void kernel(int* out) { *out = own(twice(20)) + shared_number; }

int main() {
  int *out, value = 0;
  cudaMalloc(&out, sizeof value);
  kernel<<<1, 1>>>(out);
  cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", value, number_of_other());
}
