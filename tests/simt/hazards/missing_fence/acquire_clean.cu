#include <cuda/atomic>

__device__ int lock;

__global__ void add(int* sum) {
  cuda::atomic_ref<int, cuda::thread_scope_device> its(lock);
  while (its.exchange(1, cuda::memory_order_acquire) != 0) {
  }
  *sum += 1;
  its.store(0, cuda::memory_order_release);
}

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  add<<<4, 1>>>(sum);
  return cudaDeviceSynchronize();
}
