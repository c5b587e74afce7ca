#include <cuda.h>

#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;

// The kernel makes a map of another one: of the second tensor, of which it has six columns.
__global__ void copy(const __grid_constant__ CUtensorMap map, CUtensorMap* made,
                     const float* second, float* out) {
  __shared__ __align__(128) float tile[64];
  __shared__ __align__(128) CUtensorMap its;
  __shared__ std::uint64_t barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&its));
  if (threadIdx.x == 0) {
    for (int i = 0; i < 16; ++i) its.opaque[i] = map.opaque[i];
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at),
                 "l"(second)
                 : "memory");
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at),
                 "r"(6)
                 : "memory");
  }
  __syncwarp();
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%0], [%1], 128;" ::"l"(made),
      "r"(at)
      : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(made) : "memory");
  if (threadIdx.x == 0) {
    const int from[] = {0, 1};
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof tile);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, made, from, &barrier);
  }
  __syncwarp();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (int i = 0; i < 2; ++i) out[32 * i + threadIdx.x] = tile[32 * i + threadIdx.x];
}

int main() {
  std::vector<float> tensor(256), got(64);
  float *first, *second, *out;
  CUtensorMap* made;
  cudaMalloc(&first, 1024);
  cudaMalloc(&second, 1024);
  cudaMalloc(&out, 256);
  cudaMalloc(&made, sizeof *made);
  cudaMemset(first, 0, 1024);
  for (int i = 0; i < 256; ++i) tensor[i] = static_cast<float>(i + 1);
  cudaMemcpy(second, tensor.data(), 1024, cudaMemcpyHostToDevice);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &result);
  CUtensorMap map;
  const cuuint64_t sizes[] = {16, 16}, strides[] = {64};
  const cuuint32_t box[] = {8, 8}, steps[] = {1, 1};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
          &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, first, sizes, strides, box, steps,
          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    return 2;
  }
  copy<<<1, 32>>>(map, made, second, out);
  cudaMemcpy(got.data(), out, 256, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int row = 0; row < 8; ++row) {
    for (int column = 0; column < 8; ++column) {
      wrong += got[row * 8 + column] != (column < 6 ? tensor[(row + 1) * 16 + column] : 0.0f);
    }
  }
  return cudaDeviceSynchronize() != cudaSuccess || wrong != 0;
}
