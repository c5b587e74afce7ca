// A pipeline of libcu++ whose stages the whole block fills and reads; its barriers end with it.
#include <cooperative_groups.h>

#include <cuda/pipeline>

__global__ void reverse(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stages[2][64];
  const auto block = cooperative_groups::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int next = 0, stage = 0; stage < 4; ++stage) {
    for (; next < 4 && next < stage + 2; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stages[next % 2], in + 64 * next, 64 * sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    out[64 * stage + threadIdx.x] = stages[stage % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 256 * sizeof(int));
  cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(in, 1, 256 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize();
}
