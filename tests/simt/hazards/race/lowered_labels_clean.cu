// Each thread lowers labels of others, which are cuda::atomic, and counts what it lowered: the counter is no lock of them.
#include <cuda/atomic>

using Label = cuda::atomic<int>;
__device__ int count;

__global__ void start(Label* labels) {
  labels[threadIdx.x].store(static_cast<int>(threadIdx.x) * 37 % 128);
}

__global__ void lower(Label* labels, int* lowered) {
  const int mine = labels[threadIdx.x].load();
  for (int i = 1; i < 8; ++i) {
    const int other = (static_cast<int>(threadIdx.x) + 17 * i) % 128;
    if (labels[other].load() > mine) {
      labels[other].store(mine);
      lowered[atomicAdd(&count, 1)] = other;
    }
  }
}

int main() {
  Label* labels;
  int* lowered;
  cudaMalloc(&labels, 128 * sizeof(Label));
  cudaMalloc(&lowered, 1024 * sizeof(int));
  start<<<1, 128>>>(labels);
  lower<<<1, 128>>>(labels, lowered);
  return cudaDeviceSynchronize();
}
