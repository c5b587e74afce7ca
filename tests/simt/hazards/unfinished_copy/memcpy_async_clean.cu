// A copy of libcu++ at a barrier of its own, which fences nothing between the proxies.
#include <cooperative_groups.h>

#include <cuda/barrier>

__global__ void reverse(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ __align__(16) int tile[64];
  const auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, 64);
  __syncthreads();
  cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(sizeof tile), barrier);
  barrier.arrive_and_wait();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 1, 64 * sizeof(int));
  reverse<<<1, 64>>>(in, out);
  return cudaDeviceSynchronize();
}
