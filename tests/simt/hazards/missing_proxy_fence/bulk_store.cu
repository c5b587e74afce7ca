#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void copy(float* in, float* out) {
  __shared__ __align__(128) float tile[32];
  __shared__ std::uint64_t barrier;
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 1);
  __syncthreads();
  tile[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

int main() {
  float *in, *out;
  cudaMalloc(&in, 4096);
  cudaMemset(in, 0, 4096);
  cudaMalloc(&out, 4096);
  copy<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess ? 1 : 0;
}
