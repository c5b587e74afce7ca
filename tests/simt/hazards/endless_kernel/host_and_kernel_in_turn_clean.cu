// Several rounds: the host asks, and reads the answer while the kernel waits for the next question.
#include <cuda/atomic>
#include <new>

using Round = cuda::atomic<int, cuda::thread_scope_system>;

__global__ void answer(Round* asked, Round* answered, int* data, int rounds) {
  for (int round = 1; round <= rounds; ++round) {
    if (threadIdx.x == 0) {
      while (asked->load(cuda::memory_order_acquire) != round) {
      }
    }
    __syncthreads();
    data[threadIdx.x] += round;
    __syncthreads();
    if (threadIdx.x == 0) answered->store(round, cuda::memory_order_release);
  }
}

int main() {
  Round *asked, *answered;
  int* data;
  cudaMallocManaged(&asked, sizeof(Round));
  cudaMallocManaged(&answered, sizeof(Round));
  cudaMallocManaged(&data, 64 * sizeof(int));
  new (asked) Round(0);
  new (answered) Round(0);
  for (int i = 0; i < 64; ++i) data[i] = 0;
  answer<<<1, 64>>>(asked, answered, data, 5);
  int sum = 0;
  for (int round = 1; round <= 5; ++round) {
    for (int i = 0; i < 64; ++i) data[i] *= 2;
    asked->store(round, cuda::memory_order_release);
    while (answered->load(cuda::memory_order_acquire) != round) {
    }
    sum += data[63];
  }
  return cudaDeviceSynchronize() == cudaSuccess && sum == 1 + 4 + 11 + 26 + 57 ? 0 : 1;
}
