// Launches of what the async proxy does: copies in bulk, of tiles, and wgmma. One kernel each, with what it wrote as a
// checksum.
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "../launches.hpp"

namespace fidelity {
namespace {

__device__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
__device__ void set_up(std::uint64_t* barrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void expect(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
               : "memory");
}
__device__ void wait(std::uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
      "@!p bra again;\n}" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void load(void* to, const void* from, unsigned bytes, std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
__device__ void wait_for_stores() {
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// One copy of so many bytes, from so many bytes behind the begin; then each thread writes some.
__global__ void bulk_load(const float* in, float* out, unsigned bytes, unsigned skipped) {
  __shared__ __align__(128) float tile[4096];
  __shared__ __align__(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    set_up(&barrier, 1);
    expect(&barrier, bytes);
    load(tile, in + skipped / 4, bytes, &barrier);
  }
  __syncthreads();
  wait(&barrier, 0);
  if (threadIdx.x < bytes / 4) out[threadIdx.x] = tile[threadIdx.x];
}

// Each lane its own 16 bytes, in the order of the lanes or far apart.
__global__ void bulk_load_by_lanes(const float* in, float* out, unsigned stride) {
  __shared__ __align__(128) float tile[128];
  __shared__ __align__(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    set_up(&barrier, 1);
    expect(&barrier, 512);
  }
  __syncthreads();
  load(tile + 4 * threadIdx.x, in + threadIdx.x * stride, 16, &barrier);
  wait(&barrier, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void bulk_store(float* out, unsigned bytes) {
  __shared__ __align__(128) float tile[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = static_cast<float>(i % 17);
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
                 "r"(shared_address(tile)), "r"(bytes)
                 : "memory");
    wait_for_stores();
  }
}

__global__ void bulk_add(float* out, unsigned bytes) {
  __shared__ __align__(128) float tile[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = static_cast<float>(i % 17);
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(out),
        "r"(shared_address(tile)), "r"(bytes)
        : "memory");
    wait_for_stores();
  }
}

__global__ void __cluster_dims__(2) multicast(const float* in, float* out) {
  __shared__ __align__(128) float tile[1024];
  __shared__ __align__(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    set_up(&barrier, 1);
    expect(&barrier, 4096);
  }
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x % 2 == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(tile)),
        "l"(in), "r"(4096), "r"(shared_address(&barrier)), "h"(static_cast<std::uint16_t>(3))
        : "memory");
  }
  wait(&barrier, 0);
  out[blockIdx.x * 1024 + threadIdx.x] = tile[threadIdx.x];
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

__global__ void tile_load(const __grid_constant__ CUtensorMap map, float* out, int x, int y,
                          unsigned bytes) {
  __shared__ __align__(1024) float tile[4096];
  __shared__ __align__(8) std::uint64_t barrier;
  if (threadIdx.x == 0) {
    set_up(&barrier, 1);
    expect(&barrier, bytes);
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
        "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier))
        : "memory");
  }
  __syncthreads();
  wait(&barrier, 0);
  for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = tile[i];
}

__global__ void tile_store(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ __align__(1024) float tile[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) tile[i] = static_cast<float>(i % 17);
  fence();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile(
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
            &map),
        "r"(x), "r"(y), "r"(shared_address(tile))
        : "memory");
    wait_for_stores();
  }
}

// A tensor of 128 columns and 64 rows.
CUtensorMap map_of(float* data, unsigned columns, unsigned rows, CUtensorMapSwizzle swizzle) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult result{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &result),
          "cuTensorMapEncodeTiled");
  CUtensorMap map{};
  const cuuint64_t sizes[] = {128, 64}, strides[] = {512};
  const cuuint32_t box[] = {columns, rows}, steps[] = {1, 1};
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, sizes, strides, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) require(cudaErrorInvalidValue, "cuTensorMapEncodeTiled");
  return map;
}

#define PRODUCT(NAME, FORM, LEFT, REGISTER, TAIL)                                              \
  __global__ void NAME(const std::uint32_t* in, float* out, std::uint64_t left,                \
                       std::uint64_t right) {                                                  \
    __shared__ __align__(1024) std::uint32_t tile[4096];                                       \
    for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = in[i];                 \
    fence();                                                                                   \
    __syncthreads();                                                                           \
    const std::uint64_t base = shared_address(tile) >> 4;                                      \
    const std::uint32_t a = REGISTER;                                                          \
    float d[4] = {};                                                                           \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                    \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %7, 0;\nwgmma.mma_async.sync.aligned." FORM \
                 " {%0, %1, %2, %3}, " LEFT ", %5, p, 1, 1" TAIL                               \
                 ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"    \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                              \
                 : "l"(left + base), "l"(right + base), "r"(a), "r"(1)                         \
                 : "memory");                                                                  \
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i];                               \
  }
PRODUCT(half_product, "m64n8k16.f32.f16.f16", "%4", 0, ", 0, 0")
PRODUCT(half_product_of_registers, "m64n8k16.f32.f16.f16", "{%6, %6, %6, %6}", tile[threadIdx.x],
        ", 0")
PRODUCT(float_product, "m64n8k8.f32.tf32.tf32", "%4", 0, "")

// 64 columns.
template <int kTimes>
__global__ void wide_product(const std::uint32_t* in, float* out, std::uint64_t left,
                             std::uint64_t right) {
  __shared__ __align__(1024) std::uint32_t tile[4096];
  for (unsigned i = threadIdx.x; i < 4096; i += blockDim.x) tile[i] = in[i];
  fence();
  __syncthreads();
  const std::uint64_t base = shared_address(tile) >> 4;
  float d[32] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
  for (int i = 0; i < kTimes; ++i) {
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, "
        "%9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, 0;\n}"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
          "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
          "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
          "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
          "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(left + base), "l"(right + base), "r"(1)
        : "memory");
  }
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = d[i];
}

// Bins lie in all blocks of a cluster: most atomics, and most of what is read, go to another block's shared memory.
__global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const float* in, int* bins, int n) {
  __shared__ int mine[16];
  const auto cluster = cooperative_groups::this_cluster();
  if (threadIdx.x < 16) mine[threadIdx.x] = 0;
  cluster.sync();
  const int threads = cluster.num_threads();
  for (int i = cluster.thread_rank(); i < n; i += threads) {
    const int bin = (static_cast<int>(in[i]) * 5 + i % 5) & 63;
    atomicAdd(cluster.map_shared_rank(&mine[bin % 16], bin / 16), 1);
  }
  cluster.sync();
  if (threadIdx.x < 64) {
    const int other = (cluster.block_rank() + threadIdx.x / 16) % 4;
    bins[cluster.block_rank() * 64 + threadIdx.x] =
        cluster.map_shared_rank(mine, other)[threadIdx.x % 16];
  }
  cluster.sync();
}

// Of a matrix along k at so many bytes, with blocks so far apart, in the mode of the descriptor.
std::uint64_t described(unsigned at, unsigned leading, unsigned stride, unsigned mode) {
  return at >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
         std::uint64_t{mode} << 62;
}

}  // namespace

void async_copies() {
  Array<float> in(8192), out(8192);
  bulk_load<<<1, 32>>>(in.data(), out.data(), 4096, 0);
  tell("bulk load of 4096 bytes", out);
  bulk_load<<<4, 32>>>(in.data(), out.data(), 16384, 0);
  tell("bulk load of 16384 bytes", out);
  bulk_load<<<1, 32>>>(in.data(), out.data(), 48, 16);
  tell("bulk load across two sectors", out);
  bulk_load_by_lanes<<<1, 32>>>(in.data(), out.data(), 4);
  tell("bulk loads of neighbours", out);
  bulk_load_by_lanes<<<1, 32>>>(in.data(), out.data(), 64);
  tell("bulk loads far apart", out);
  bulk_store<<<1, 32>>>(out.data(), 4096);
  tell("bulk store of 4096 bytes", out);
  bulk_store<<<1, 32>>>(out.data() + 4, 48);
  tell("bulk store across two sectors", out);
  bulk_add<<<1, 32>>>(out.data(), 4096);
  tell("bulk addition of 4096 bytes", out);
  multicast<<<4, 128>>>(in.data(), out.data());
  tell("multicast to two blocks", out);
  tile_load<<<1, 32>>>(map_of(in.data(), 32, 32, CU_TENSOR_MAP_SWIZZLE_NONE), out.data(), 0, 0,
                       4096);
  tell("tile of 32 x 32", out);
  tile_load<<<1, 32>>>(map_of(in.data(), 32, 32, CU_TENSOR_MAP_SWIZZLE_128B), out.data(), 32, 7,
                       4096);
  tell("tile with swizzle", out);
  tile_load<<<1, 32>>>(map_of(in.data(), 16, 32, CU_TENSOR_MAP_SWIZZLE_64B), out.data(), 4, 40,
                       2048);
  tell("tile beyond the last row", out);
  tile_load<<<1, 32>>>(map_of(in.data(), 8, 64, CU_TENSOR_MAP_SWIZZLE_32B), out.data(), -4, -3,
                       2048);
  tell("tile before the first column", out);
  tile_store<<<1, 32>>>(map_of(out.data(), 32, 32, CU_TENSOR_MAP_SWIZZLE_128B), 16, 8);
  tell("tile stored with swizzle", out);
  tile_store<<<1, 32>>>(map_of(out.data(), 32, 32, CU_TENSOR_MAP_SWIZZLE_NONE), 112, 50);
  tell("tile stored at the corner", out);
  Array<int> bins(256);
  cluster_histogram<<<4, 128>>>(in.data(), bins.data(), 1500);
  tell("histogram of a cluster", bins);
}

void warpgroup_products() {
  Array<std::uint32_t> in(4096);
  Array<float> out(4096);
  // Halves: 1, 2, ... by their bits.
  std::vector<std::uint32_t> bits(4096);
  for (std::size_t i = 0; i < bits.size(); ++i)
    bits[i] = (i * 7 % 13) * 0x0400 << 16 | (0x3c00 + i % 5 * 0x200);
  require(cudaMemcpy(in.data(), bits.data(), 16384, cudaMemcpyHostToDevice), "cudaMemcpy");
  half_product<<<1, 128>>>(in.data(), out.data(), described(0, 128, 256, 0),
                           described(8192, 128, 256, 0));
  tell("half product", out);
  half_product<<<1, 128>>>(in.data(), out.data(), described(0, 16, 1024, 1),
                           described(8192, 16, 1024, 1));
  tell("half product with swizzle", out);
  half_product_of_registers<<<1, 128>>>(in.data(), out.data(), 0, described(8192, 16, 1024, 1));
  tell("half product of registers", out);
  float_product<<<1, 128>>>(in.data(), out.data(), described(0, 16, 512, 2),
                            described(8192, 16, 256, 3));
  tell("float product with swizzle", out);
  wide_product<1>
      <<<2, 128>>>(in.data(), out.data(), described(0, 16, 1024, 1), described(8192, 16, 1024, 1));
  tell("wide half product", out);
  wide_product<3>
      <<<2, 128>>>(in.data(), out.data(), described(0, 16, 1024, 1), described(8192, 16, 1024, 1));
  tell("three wide half products", out);
  wide_product<1>
      <<<2, 128>>>(in.data(), out.data(), described(0, 128, 256, 0), described(8192, 128, 256, 0));
  tell("wide half product without swizzle", out);
}

}  // namespace fidelity

int main() {
  fidelity::async_copies();
  fidelity::warpgroup_products();
}
