// Two kernels on two streams, each of which waits for what the other writes: the one that is launched first waits first.
#include <cuda/atomic>

using Round = cuda::atomic_ref<int, cuda::thread_scope_device>;

__global__ void play(int* own, int* other, int* data, int first, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) {
      while (Round(*other).load(cuda::memory_order_acquire) < round - first) {
      }
    }
    __syncthreads();
    data[threadIdx.x] = data[threadIdx.x] * 2 + first;
    __syncthreads();
    if (threadIdx.x == 0) Round(*own).store(round, cuda::memory_order_release);
  }
}

int main() {
  int *turns, *data;
  cudaMalloc(&turns, 2 * sizeof(int));
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMemset(turns, 0, 2 * sizeof(int));
  cudaMemset(data, 0, 64 * sizeof(int));
  cudaDeviceSynchronize();
  int least, greatest;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t s, t;
  cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest);
  cudaStreamCreate(&t);
  play<<<1, 64, 0, s>>>(turns, turns + 1, data, 0, 5);
  play<<<1, 64, 0, t>>>(turns + 1, turns, data, 1, 5);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int got = 0;
  cudaMemcpy(&got, data + 63, sizeof got, cudaMemcpyDeviceToHost);
  return got == 682 ? 0 : 2;
}
