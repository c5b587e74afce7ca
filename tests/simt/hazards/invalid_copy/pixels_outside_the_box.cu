#include <cuda.h>

#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;

constexpr int kChannels = 8, kWidth = 6, kHeight = 5, kImages = 2, kPixels = 32;

// Pixels of a box that reaches one pixel beyond the image on all sides, each by (x, y) further: what a filter of 3 x 3
// multiplies with its element there.
__global__ void copy(const __grid_constant__ CUtensorMap map, int x, int y, int first, float* out) {
  __shared__ __align__(128) float tile[kPixels * kChannels];
  __shared__ std::uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof tile);
    const auto to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
        "[%0], [%1, {0, %2, -1, 0}], [%3], {%4, %5};" ::"r"(to),
        "l"(&map), "r"(first), "r"(at), "h"(static_cast<short>(x)), "h"(static_cast<short>(y))
        : "memory");
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (unsigned i = threadIdx.x; i < kPixels * kChannels; i += blockDim.x) out[i] = tile[i];
}

int main() {
  std::vector<float> image(kImages * kHeight * kWidth * kChannels), got(kPixels * kChannels);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i + 1);
  float *in, *out;
  cudaMalloc(&in, image.size() * 4);
  cudaMalloc(&out, got.size() * 4);
  cudaMemcpy(in, image.data(), image.size() * 4, cudaMemcpyHostToDevice);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &encode, 12000, cudaEnableDefault,
                                   &result);
  CUtensorMap map;
  const cuuint64_t sizes[] = {kChannels, kWidth, kHeight, kImages};
  const cuuint64_t strides[] = {kChannels * 4, kWidth * kChannels * 4,
                                kHeight * kWidth * kChannels * 4};
  const int lower[] = {-1, -1}, upper[] = {-1, -1};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  if (reinterpret_cast<decltype(&cuTensorMapEncodeIm2col)>(encode)(
          &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, in, sizes, strides, lower, upper, kChannels,
          kPixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
          CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    return 2;
  }
  copy<<<1, 32>>>(map, 0, 0, kWidth, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
