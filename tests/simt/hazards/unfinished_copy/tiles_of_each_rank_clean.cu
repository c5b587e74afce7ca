#include <cuda.h>

#include <cuda/ptx>
#include <vector>

namespace ptx = cuda::ptx;

// A tensor of 16 x 6 x 5 x 4 x 3 elements, tiles of 8 x 3 x 3 x 2 x 2 of it, of which every second row is left out.
template <int kRank>
__global__ void copy(const __grid_constant__ CUtensorMap map, float* out, unsigned bytes, int first,
                     int further) {
  __shared__ __align__(128) float tile[1024];
  __shared__ std::uint64_t barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    int at[kRank];
    for (int i = 0; i < kRank; ++i) at[i] = i == 0 ? first : further;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   bytes);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &barrier);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = 2 * tile[i];
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) tile[i] = 1;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    int at[kRank];
    for (int i = 0; i < kRank; ++i) at[i] = i == 0 ? first : further;
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at,
                                     tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

constexpr int kSizes[] = {16, 6, 5, 4, 3};
constexpr int kBox[] = {8, 3, 3, 2, 2};

template <int kRank>
int wrong(int first, int further) {
  int all = 1, of_tile = 8;
  for (int i = 0; i < kRank; ++i) all *= kSizes[i];
  for (int i = 1; i < kRank; ++i) of_tile *= i == 1 ? 2 : kBox[i];
  std::vector<float> tensor(all), got(of_tile), after(all);
  for (int i = 0; i < all; ++i) tensor[i] = static_cast<float>(i + 1);
  float *in, *out;
  cudaMalloc(&in, all * 4);
  cudaMalloc(&out, of_tile * 4);
  cudaMemcpy(in, tensor.data(), all * 4, cudaMemcpyHostToDevice);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult result;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &result);
  CUtensorMap map;
  const cuuint64_t sizes[] = {16, 6, 5, 4, 3}, strides[] = {64, 384, 1920, 7680};
  const cuuint32_t box[] = {8, 3, 3, 2, 2}, steps[] = {1, 2, 1, 1, 1};
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, kRank, in, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) return 1;
  copy<kRank><<<1, 32>>>(map, out, of_tile * 4, first, further);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(got.data(), out, of_tile * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(after.data(), in, all * 4, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  int faults = 0;
  for (int i = 0; i < of_tile; ++i) {
    int rest = i / 8, at = first + i % 8, stride = 16;
    bool is_there = at >= 0 && at < 16;
    for (int d = 1; d < kRank; ++d) {
      const int count = d == 1 ? 2 : kBox[d], index = further + rest % count * (d == 1 ? 2 : 1);
      rest /= count;
      is_there = is_there && index >= 0 && index < kSizes[d];
      at += index * stride;
      stride *= kSizes[d];
    }
    faults += got[i] != (is_there ? 2 * tensor[at] : 0);
    if (is_there) tensor[at] += 1;
  }
  return faults + (tensor != after ? 1 : 0);
}

int main() {
  for (const int first : {0, 4, -4, 12}) {
    for (const int further : {0, 1, -1, 2}) {
      if (wrong<1>(first, further) + wrong<2>(first, further) + wrong<3>(first, further) +
              wrong<4>(first, further) + wrong<5>(first, further) !=
          0) {
        return 1;
      }
    }
  }
  return 0;
}
