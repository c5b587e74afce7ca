// What another block has handed on, by a flag, is not read by __ldg() either.
#include <cuda/atomic>

__global__ void hand_on(int* value, cuda::atomic<int, cuda::thread_scope_device>* flag, int* out) {
  if (blockIdx.x == 0) {
    *value = 7;
    flag->store(1, cuda::memory_order_release);
  } else {
    while (flag->load(cuda::memory_order_acquire) == 0) {
    }
    *out = __ldg(value);
  }
}

int main() {
  int *value, *out;
  cuda::atomic<int, cuda::thread_scope_device>* flag;
  cudaMalloc(&value, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  hand_on<<<2, 1>>>(value, flag, out);
  return cudaDeviceSynchronize();
}
