#include <cuda.h>

#include <cuda/ptx>

namespace ptx = cuda::ptx;

__global__ void copy(const __grid_constant__ CUtensorMap map, float* out) {
  __shared__ __align__(1024) float tile[1024];
  __shared__ std::uint64_t barrier;
  for (int i = threadIdx.x; i < 1024; i += 32) tile[i] = -1;
  if (threadIdx.x == 0) ptx::mbarrier_init(&barrier, 1);
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int at[] = {0, 0};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   512);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &barrier);
  }
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (int i = threadIdx.x; i < 1024; i += 32) out[i] = tile[i];
}

// A row of 16 bytes in each 128, as on an H200.
int main() {
  float *in, *out, host[1024];
  for (int i = 0; i < 1024; ++i) host[i] = static_cast<float>(i + 1);
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaMemcpy(in, host, 4096, cudaMemcpyHostToDevice);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &result);
  CUtensorMap map;
  const cuuint64_t sizes[] = {32, 32}, strides[] = {128};
  const cuuint32_t box[] = {4, 32}, steps[] = {1, 1};
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, in, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) return 1;
  copy<<<1, 32>>>(map, out);
  cudaMemcpy(host, out, 4096, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 1024; ++i) {
    const int row = i / 32, chunk = i % 32 / 4;
    if (host[i] != (chunk == row % 8 ? static_cast<float>(row * 32 + i % 4 + 1) : -1)) return 1;
  }
  return 0;
}
