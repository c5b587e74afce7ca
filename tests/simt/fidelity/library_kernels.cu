// Collectives of CUB and calls of Thrust: kernels that nobody wrote for this test.
#include <cuda_runtime.h>

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "launches.hpp"

namespace fidelity {
namespace {

template <cub::BlockReduceAlgorithm kAlgorithm>
__global__ void block_reduce(const int* in, int* out) {
  using Reduce = cub::BlockReduce<int, 128, kAlgorithm>;
  __shared__ typename Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

template <cub::BlockScanAlgorithm kAlgorithm>
__global__ void block_scan(const int* in, int* out) {
  using Scan = cub::BlockScan<int, 128, kAlgorithm>;
  __shared__ typename Scan::TempStorage storage;
  int value = in[blockIdx.x * 128 + threadIdx.x];
  Scan(storage).ExclusiveSum(value, value);
  out[blockIdx.x * 128 + threadIdx.x] = value;
}

template <cub::BlockLoadAlgorithm kLoad, cub::BlockStoreAlgorithm kStore>
__global__ void load_and_store(const int* in, int* out) {
  using Load = cub::BlockLoad<int, 64, 4, kLoad>;
  using Store = cub::BlockStore<int, 64, 4, kStore>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int items[4];
  Load(storage.load).Load(in + blockIdx.x * 256, items);
  __syncthreads();
  for (int& item : items) item = item * 3 + threadIdx.x;
  Store(storage.store).Store(out + blockIdx.x * 256, items);
}

__global__ void radix_sort(const int* in, int* out) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  for (int k = 0; k < 4; ++k) keys[k] = in[threadIdx.x * 4 + k] * 37 % 101;
  Sort(storage).Sort(keys, 0, 8);
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = keys[k];
}

__global__ void warp_reduce(const float* in, float* out) {
  using Reduce = cub::WarpReduce<float>;
  __shared__ typename Reduce::TempStorage storage[4];
  const float most = Reduce(storage[threadIdx.x / 32]).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x % 32 == 0) out[blockIdx.x * 4 + threadIdx.x / 32] = most;
}

}  // namespace

void library_kernels() {
  Array<int> in(2048), out(2048);
  Array<float> floats(2048), sums(64);
  block_reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<5, 128>>>(in.data(), out.data());
  tell("block reduce by warps", out);
  block_reduce<cub::BLOCK_REDUCE_RAKING><<<5, 128>>>(in.data(), out.data());
  tell("block reduce by raking", out);
  block_scan<cub::BLOCK_SCAN_WARP_SCANS><<<5, 128>>>(in.data(), out.data());
  tell("block scan by warps", out);
  block_scan<cub::BLOCK_SCAN_RAKING><<<5, 128>>>(in.data(), out.data());
  tell("block scan by raking", out);
  load_and_store<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT><<<4, 64>>>(in.data(), out.data());
  tell("load direct", out);
  load_and_store<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>
      <<<4, 64>>>(in.data(), out.data());
  tell("load transposed", out);
  load_and_store<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>
      <<<4, 64>>>(in.data(), out.data());
  tell("load vectorised", out);
  radix_sort<<<1, 64>>>(in.data(), out.data());
  tell("radix sort", out);
  warp_reduce<<<5, 128>>>(floats.data(), sums.data());
  tell("warp reduce", sums);
}

}  // namespace fidelity
