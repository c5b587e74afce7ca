#include <cuda/atomic>

__device__ int data, flag;

__global__ void hand_over(int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> is_there(flag);
  if (blockIdx.x == 0) {
    data = 42;
    is_there.store(1, cuda::memory_order_relaxed);
  } else {
    while (is_there.load(cuda::memory_order_relaxed) == 0) {
    }
    *out = data;
  }
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  hand_over<<<2, 1>>>(out);
  return cudaDeviceSynchronize();
}
