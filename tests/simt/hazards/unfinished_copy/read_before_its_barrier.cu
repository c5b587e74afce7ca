// A copy arrives at a cuda::barrier, and its own thread reads what it brings before it has waited there.
#include <cuda/barrier>

__global__ void doubled(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(&tile[t], in + t, cuda::aligned_size_t<4>(4), barrier);
  out[t] = 2 * tile[t];
  barrier.arrive_and_wait();
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  doubled<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize();
}
