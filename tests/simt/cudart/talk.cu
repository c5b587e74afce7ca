// Kernels that print, and that allocate.
#include <cstdio>

__global__ void speak(const char* name) {
  const int used = printf("%s %d of %d: %5.2f %-4s| %llx %c%%\n", name, threadIdx.x, blockDim.x,
                          threadIdx.x / 2.0, "ab", 0x123456789abcdefull, 'x');
  if (used != 7) __trap();
}
__global__ void allocate(int** kept) {
  int* const mine = static_cast<int*>(malloc(2 * sizeof(int)));
  mine[0] = static_cast<int>(threadIdx.x);
  mine[1] = 10 * mine[0];
  kept[threadIdx.x] = mine;
}
__global__ void sum_and_free(int** kept, int* sum) {
  atomicAdd(sum, kept[threadIdx.x][1]);
  free(kept[threadIdx.x]);
}

int main() {
  char* name;
  cudaMalloc(&name, 8);
  cudaMemcpy(name, "thread", 7, cudaMemcpyHostToDevice);
  speak<<<1, 3>>>(name);
  cudaDeviceSynchronize();
  int** kept;
  int* sum;
  cudaMalloc(&kept, 32 * sizeof(int*));
  cudaMallocManaged(&sum, sizeof(int));
  *sum = 0;
  allocate<<<1, 32>>>(kept);
  sum_and_free<<<1, 32>>>(kept, sum);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %d\n", cudaGetErrorName(error), *sum);
}
