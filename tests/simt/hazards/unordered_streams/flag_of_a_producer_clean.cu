// The consumer, on another stream, waits for a flag that the producer raises behind its data; what comes behind the consumer
// comes behind both.
#include <cuda/atomic>

using Flag = cuda::atomic<long long, cuda::thread_scope_device>;

__global__ void produce(int* data, Flag* flag) {
  data[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  if (threadIdx.x == 0) flag->store(1, cuda::memory_order_release);
}

__global__ void consume(int* data, Flag* flag) {
  if (threadIdx.x == 0) {
    while (flag->load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
  data[threadIdx.x] *= 2;
}

__global__ void add_one(int* data) { data[threadIdx.x] += 1; }

int main() {
  int* data;
  Flag* flags;
  cudaMalloc(&data, 128 * sizeof(int));
  cudaMalloc(&flags, 2 * sizeof(Flag));
  cudaMemset(flags, 0, 2 * sizeof(Flag));
  cudaFuncAttributes loaded;
  cudaFuncGetAttributes(&loaded, produce);
  cudaFuncGetAttributes(&loaded, add_one);
  cudaDeviceSynchronize();
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  produce<<<1, 64, 0, s>>>(data, flags);
  consume<<<1, 64, 0, t>>>(data, flags);
  // And once more, with the consumer launched first.
  consume<<<1, 64, 0, t>>>(data + 64, flags + 1);
  add_one<<<1, 64, 0, t>>>(data + 64);
  produce<<<1, 64, 0, s>>>(data + 64, flags + 1);
  cudaStreamSynchronize(t);
  int got[128];
  if (cudaMemcpyAsync(got, data, sizeof got, cudaMemcpyDeviceToHost, t) != cudaSuccess) return 1;
  return got[63] == 128 && got[127] == 129 ? 0 : 2;
}
