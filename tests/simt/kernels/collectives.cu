// Cooperative groups and CUB's reductions, as kernels use them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cub/cub.cuh>

#include "collectives.hpp"
#include "device_array.hpp"

namespace cg = cooperative_groups;

namespace collectives {
namespace {

// Runs `launch(output)` and cuts the output into a row for each thread.
template <typename Launch>
Table table(int threads, int fields, Launch launch) {
  cudaDeviceReset();
  DeviceArray<double> out(std::vector<double>(
      static_cast<std::size_t>(threads) * static_cast<std::size_t>(fields), -7));
  launch(out.get());
  if (cudaDeviceSynchronize() != cudaSuccess) return {};
  const std::vector<double> values = out.download();
  Table rows;
  for (std::size_t i = 0; i < values.size(); i += static_cast<std::size_t>(fields)) {
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                      values.begin() + static_cast<std::ptrdiff_t>(i) + fields);
  }
  return rows;
}

__global__ void block_kernel(double* out) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::grid_group grid = cg::this_grid();
  block.sync();
  if (block.group_index().x != 0 || block.group_index().y != 2) return;
  out += 13 * block.thread_rank();
  *out++ = block.thread_rank();
  *out++ = block.size();
  const dim3 triples[] = {block.group_index(), block.thread_index(), block.dim_threads()};
  for (const dim3& triple : triples) {
    *out++ = triple.x;
    *out++ = triple.y;
    *out++ = triple.z;
  }
  *out++ = static_cast<double>(grid.thread_rank());
  *out++ = static_cast<double>(grid.num_threads());
}

struct Mixed {
  double real;
  int whole;
  float tail[2];
};

template <unsigned int kSize>
__global__ void tile_kernel(double* out) {
  const auto tile = cg::tiled_partition<kSize>(cg::this_thread_block());
  const int t = threadIdx.x;
  const int v = 100 + t;
  out += 20 * t;
  *out++ = tile.thread_rank();
  *out++ = tile.size();
  *out++ = tile.meta_group_rank();
  *out++ = tile.meta_group_size();
  *out++ = tile.ballot(v % 3 == 0);
  *out++ = tile.any(v == 105);
  *out++ = tile.all(v < 164);
  *out++ = tile.shfl(v, 1);
  *out++ = tile.shfl_up(v, 1);
  *out++ = tile.shfl_down(v, 1);
  *out++ = tile.size() > 1 ? tile.shfl_xor(v, 1) : v;  // one lane has no other to read
  *out++ = tile.match_any(v / 2);
  const Mixed mixed = tile.shfl(Mixed{v + 0.5, 2 * v, {3.0f * v, 4.0f * v}}, 1);
  *out++ = mixed.real;
  *out++ = mixed.whole;
  *out++ = mixed.tail[0];
  *out++ = mixed.tail[1];
  *out++ = cg::reduce(tile, v, cg::plus<int>());
  *out++ = cg::reduce(tile, v, cg::less<int>());
  *out++ = cg::reduce(tile, v, cg::greater<int>());
  *out++ = cg::reduce(tile, 1.0f / v, cg::plus<float>());
}

// A tile of any parent, as functions usually take it.
__device__ int sum_of_four(const cg::thread_block_tile<4>& tile, int v) {
  for (int offset = 2; offset > 0; offset /= 2) v += tile.shfl_down(v, offset);
  return tile.shfl(v, 0);
}

__global__ void nested_kernel(double* out) {
  const auto tile16 = cg::tiled_partition<16>(cg::this_thread_block());
  const auto tile4 = cg::tiled_partition<4>(tile16);
  out += 4 * threadIdx.x;
  out[0] = tile4.thread_rank();
  out[1] = tile4.meta_group_rank();
  out[2] = tile4.meta_group_size();
  out[3] = sum_of_four(tile4, 100 + threadIdx.x);
}

__global__ void coalesced_kernel(double* out) {
  const int lane = threadIdx.x % 32;
  out += 14 * threadIdx.x;
  if (lane % 3 != 0) {
    out[0] = -1;
    return;
  }
  const cg::coalesced_group group = cg::coalesced_threads();
  *out++ = group.thread_rank();
  *out++ = group.size();
  *out++ = group.ballot(lane % 2);
  *out++ = group.any(lane == 3);
  *out++ = group.all(lane < 30);
  *out++ = group.shfl(lane, static_cast<int>(group.size()) - 1);
  *out++ = group.shfl_up(lane, 1);
  *out++ = group.shfl_down(lane, 1);
  *out++ = cg::reduce(group, lane, cg::plus<int>());
  const cg::coalesced_group four = cg::tiled_partition(group, 4);
  *out++ = four.thread_rank();
  *out++ = four.size();
  *out++ = four.meta_group_rank();
  *out++ = four.meta_group_size();
  *out++ = cg::reduce(four, lane, cg::less<int>());
}

// The sum over any group, in shared memory of one cell for each member. Valid in rank 0.
__device__ int sum_over(cg::thread_group group, int* cells, int v) {
  const int rank = static_cast<int>(group.thread_rank());
  for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
    cells[rank] = v;
    group.sync();
    if (rank < half) v += cells[rank + half];
    group.sync();
  }
  return v;
}

__global__ void group_kernel(double* out) {
  __shared__ int cells[64];
  const int t = threadIdx.x;
  const cg::thread_block block = cg::this_thread_block();
  out += 3 * t;
  out[0] = sum_over(block, cells, 100 + t);
  cg::sync(block);
  out[1] = sum_over(cg::tiled_partition(block, 32), &cells[t / 32 * 32], 100 + t);
  cg::sync(block);
  out[2] = sum_over(cg::tiled_partition(block, 8), &cells[t / 8 * 8], 100 + t);
}

struct Larger {
  __host__ __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct Smaller {
  __host__ __device__ int operator()(int a, int b) const { return b < a ? b : a; }
};

__global__ void block_reduce_kernel(double* out) {
  using Ints = cub::BlockReduce<int, kTileThreads>;
  using Floats = cub::BlockReduce<float, kTileThreads>;
  __shared__ union {
    typename Ints::TempStorage ints;
    typename Floats::TempStorage floats;
  } storage;
  const int t = threadIdx.x;
  const int v = 100 + t;
  double results[7];
  results[0] = Ints(storage.ints).Sum(v);
  __syncthreads();
  results[1] = Ints(storage.ints).Sum(v, 50);
  __syncthreads();
  results[2] = Ints(storage.ints).Reduce(v, Larger());
  __syncthreads();
  results[3] = Ints(storage.ints).Reduce(v, Larger(), 33);
  __syncthreads();
  results[4] = Floats(storage.floats).Sum(1.0f / v);
  __syncthreads();
  int items[] = {v, 2 * v, 3 * v};
  results[5] = Ints(storage.ints).Sum(items);
  __syncthreads();
  results[6] = Ints(storage.ints).Reduce(items, Smaller());
  if (t == 0) {
    for (int i = 0; i < 7; ++i) out[i] = results[i];
  }
}

__global__ void block_reduce_3d_kernel(double* out) {
  using Reduce = cub::BlockReduce<int, 5, cub::BLOCK_REDUCE_WARP_REDUCTIONS, 2, 3>;
  __shared__ typename Reduce::TempStorage storage;
  const int rank = (threadIdx.z * 2 + threadIdx.y) * 5 + threadIdx.x;
  const int sum = Reduce(storage).Sum(100 + rank);
  if (rank == 0) out[7] = sum;
}

__global__ void warp_reduce_kernel(double* out) {
  using Whole = cub::WarpReduce<float>;
  using Eight = cub::WarpReduce<int, 8>;
  __shared__ typename Whole::TempStorage whole[2];
  __shared__ typename Eight::TempStorage eight[8];
  const int t = threadIdx.x;
  out += 3 * t;
  out[0] = Whole(whole[t / 32]).Sum(1.0f / (100 + t));
  out[1] = Eight(eight[t / 8]).Reduce(100 + t, Larger());
  out[2] = Eight(eight[t / 8]).Sum(100 + t, 5);
}

// ---- planted bugs and their twins ----

__global__ void tile_without_sync(float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  cells[t] = 0;
  cg::this_thread_block().sync();
  cells[t] = t;                                                 // OTHER tile_without_sync
  out[t] = cells[t / 16 * 16 + (tile.thread_rank() + 1) % 16];  // BUG tile_without_sync
}

__global__ void tile_with_sync(float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  cells[t] = t;
  tile.sync();
  out[t] = cells[t / 16 * 16 + (tile.thread_rank() + 1) % 16];
}

// A tile of 16 orders its own lanes only.
__global__ void tile_too_small(float* out) {
  __shared__ float cells[64];
  const int t = threadIdx.x;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  cells[t] = 0;
  __syncthreads();
  cells[t] = t;  // OTHER tile_too_small
  tile.sync();
  out[t] = cells[t ^ 16];  // BUG tile_too_small
}

__global__ void storage_used_again(float* out) {
  using Reduce = cub::BlockReduce<float, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int t = threadIdx.x;
  const float first = Reduce(storage).Sum(1.0f * t);   // OTHER storage_used_again
  const float second = Reduce(storage).Sum(2.0f * t);  // BUG storage_used_again
  if (t == 0) out[0] = first + second;
}

__global__ void storage_used_again_after_barrier(float* out) {
  using Reduce = cub::BlockReduce<float, 64>;
  __shared__ typename Reduce::TempStorage storage;
  const int t = threadIdx.x;
  const float first = Reduce(storage).Sum(1.0f * t);
  __syncthreads();
  const float second = Reduce(storage).Sum(2.0f * t);
  if (t == 0) out[0] = first + second;
}

// Shuffles need no memory: a warp may reduce as often as it likes.
__global__ void warp_storage_used_again(float* out) {
  using Reduce = cub::WarpReduce<float>;
  __shared__ typename Reduce::TempStorage storage[2];
  const int t = threadIdx.x;
  const float first = Reduce(storage[t / 32]).Sum(1.0f * t);
  const float second = Reduce(storage[t / 32]).Sum(2.0f * t);
  if (t % 32 == 0) out[t / 32] = first + second;
}

__global__ void barrier_of_a_branch(float* out) {
  const int t = threadIdx.x;
  const cg::thread_block block = cg::this_thread_block();
  if (t < 32) {
    out[t] = 1;
    block.sync();  // BUG barrier_of_a_branch
  } else {
    out[t] = 2;
    block.sync();  // OTHER barrier_of_a_branch
  }
}

template <void (*kernel)(float*)>
int run() {
  cudaDeviceReset();
  DeviceArray<float> out(64);
  kernel<<<1, 64>>>(out.get());
  return cudaDeviceSynchronize();
}

}  // namespace

Table block_figures() {
  return table(48, 13, [](double* out) { block_kernel<<<dim3(2, 3), dim3(4, 2, 6)>>>(out); });
}

Table tile_figures(int size) {
  return table(kTileThreads, 20, [size](double* out) {
    switch (size) {
      case 1:
        tile_kernel<1><<<1, kTileThreads>>>(out);
        break;
      case 2:
        tile_kernel<2><<<1, kTileThreads>>>(out);
        break;
      case 4:
        tile_kernel<4><<<1, kTileThreads>>>(out);
        break;
      case 8:
        tile_kernel<8><<<1, kTileThreads>>>(out);
        break;
      case 16:
        tile_kernel<16><<<1, kTileThreads>>>(out);
        break;
    }
  });
}

Table tile_figures_of_warps() {
  return table(64, 20, [](double* out) { tile_kernel<32><<<1, 64>>>(out); });
}

Table nested_figures() {
  return table(64, 4, [](double* out) { nested_kernel<<<1, 64>>>(out); });
}

Table coalesced_figures() {
  return table(48, 14, [](double* out) { coalesced_kernel<<<1, 48>>>(out); });
}

Table group_sums() {
  return table(64, 3, [](double* out) { group_kernel<<<1, 64>>>(out); });
}

Table block_reductions() {
  return table(1, 8, [](double* out) {
    block_reduce_kernel<<<1, kTileThreads>>>(out);
    block_reduce_3d_kernel<<<1, dim3(5, 2, 3)>>>(out);
  });
}

Table warp_reductions() {
  return table(64, 3, [](double* out) { warp_reduce_kernel<<<1, 64>>>(out); });
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"tile_without_sync", run<tile_without_sync>},
      {"tile_with_sync", run<tile_with_sync>},
      {"tile_too_small", run<tile_too_small>},
      {"storage_used_again", run<storage_used_again>},
      {"storage_used_again_after_barrier", run<storage_used_again_after_barrier>},
      {"warp_storage_used_again", run<warp_storage_used_again>},
      {"barrier_of_a_branch", run<barrier_of_a_branch>},
  };
  return all;
}

}  // namespace collectives
