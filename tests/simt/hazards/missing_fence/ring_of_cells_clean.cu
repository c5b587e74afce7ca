// A queue in a ring, for any number of producers and consumers: a compare-and-swap gives out turns, and locks nothing.
#include <cuda/atomic>

using Counter = cuda::atomic<unsigned, cuda::thread_scope_device>;
constexpr unsigned kCells = 16;

struct Queue {
  Counter turn[kCells];
  int data[kCells];
  Counter head, tail;
};

// Whose turn it is at a cell, as soon as it is the caller's.
__device__ unsigned take(Counter* turn, Counter& next, unsigned behind) {
  unsigned at = next.load(cuda::memory_order_relaxed);
  while (true) {
    if (turn[at % kCells].load(cuda::memory_order_acquire) != at + behind) {
      at = next.load(cuda::memory_order_relaxed);
    } else if (next.compare_exchange_weak(at, at + 1, cuda::memory_order_relaxed)) {
      return at;
    }
  }
}

__global__ void begin(Queue* queue) {
  for (unsigned i = 0; i < kCells; ++i) queue->turn[i].store(i, cuda::memory_order_relaxed);
  queue->head.store(0, cuda::memory_order_relaxed);
  queue->tail.store(0, cuda::memory_order_relaxed);
}

__global__ void run(Queue* queue, int* sum) {
  for (int i = 0; i < 8; ++i) {
    if (blockIdx.x % 2 == 0) {
      const unsigned at = take(queue->turn, queue->tail, 0);
      queue->data[at % kCells] = threadIdx.x + i;
      queue->turn[at % kCells].store(at + 1, cuda::memory_order_release);
    } else {
      const unsigned at = take(queue->turn, queue->head, 1);
      atomicAdd(sum, queue->data[at % kCells]);
      queue->turn[at % kCells].store(at + kCells, cuda::memory_order_release);
    }
  }
}

int main() {
  Queue* queue;
  int *sum, got = 0;
  cudaMalloc(&queue, sizeof(Queue));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  begin<<<1, 1>>>(queue);
  run<<<4, 32>>>(queue, sum);
  cudaMemcpy(&got, sum, sizeof(int), cudaMemcpyDeviceToHost);
  return got != 2 * 8 * (31 * 16 + 32 * 7 / 2);
}
