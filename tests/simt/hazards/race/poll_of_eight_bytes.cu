// One block polls eight bytes again and again, of which another writes the last four by a plain store.
#include <cuda/atomic>

__device__ long long flag;

__global__ void meet() {
  if (blockIdx.x == 0) {
    while (cuda::atomic_ref<long long, cuda::thread_scope_device>(flag).load(
               cuda::memory_order_acquire) == 0) {
    }
  } else {
    reinterpret_cast<int*>(&flag)[1] = 1;
  }
}

int main() {
  meet<<<2, 1>>>();
  return cudaDeviceSynchronize();
}
