// A layer as one matrix product.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        the product is of filters [K][R*S*C] and cells [R*S*C][N*P*Q], of which the second one is never written
//            down. Small layers have few tiles of outputs, so the reduction is divided: over the warps of a block,
//            each of which has a whole tile to itself, and over the blocks of a cluster, which add up in each
//            other's shared memory (distributed shared memory). Rows there are swizzled.
//            A tile that two blocks share, of two warps each:
//
//                       R*S*C, in quads                           N*P*Q
//              [ warp 0 | warp 1 | warp 0 | warp 1 ]      [ warp 0 of block 0 ]
//            K                                        x   [ warp 1 of block 0 ]  =  the sum of four tiles
//               `--- block 0 ---' `--- block 1 ---'       [ warp 0 of block 1 ]
//                      16 or 32 filters                   [ warp 1 of block 1 ]
//                                                              32 columns
//
// Must cost  each filter once for each 32 columns, each cell R*S times for each tile of filters, each output once.
//            832 channels of 7 x 7 and 256 filters of 1 x 1: 2 * 0.85 MB + 8 * 0.16 MB + 0.05 MB, the loads
//            from the L2 cache.
#include "common/convolve/implicit_gemm/quads.cuh"
#include "common/convolve/implicit_gemm/tile_sums.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

namespace {

// Preconditions: gridDim = (tiles of columns, tiles of filters, split), clusters along z; blockDim.x = 32 *
// kSlices; dynamic shared memory as shared_bytes says. A thread has kF filters and four columns of a tile.
// Without kPacked there is one tap, and the filters are as they were given: for who would pack them for each call.
template <int kF, int kSlices, GemmCells kCells, bool kPacked>
__global__ void __launch_bounds__(kSlices* kWarpSize, 16 / kSlices) implicit_gemm_kernel(
    const float* input,                    // [N][C][H][W]
    const float* __restrict__ of_filters,  // [R][S][C in quads][pitch], or [K][C]
    float* output,                         // [N][K][P][Q]
    const float* __restrict__ bias,        // [K], or null
    bool relu, const LayerNumbers layer, const GemmShares shares) {
  constexpr int kFilters = 4 * kF;  // of a tile
  // In float4: a quad's filters and cells, four quads of a slice, the sums of a tile.
  constexpr int kQuad4 = kFilters + kColumns, kSlice4 = 4 * kQuad4,
                kTile4 = kFilters * kColumns / 4;
  extern __shared__ float4 on_chip[];  // [kSlices][kSlice4], and what a cluster needs
  float4* const of_blocks = on_chip + kSlices * kSlice4;  // [split][share]
  // Each block of a cluster has a barrier, full when all have sent it their parts, counted in bytes. (A static
  // barrier would move what lies after it: kernels of one warp took 15 % longer.)
  std::uint64_t* const full = reinterpret_cast<std::uint64_t*>(of_blocks + kTile4);

  const int lane = threadIdx.x % kWarpSize, slice = threadIdx.x / kWarpSize;
  const int split = gridDim.z, rank = blockIdx.z;
  const int first_filter = blockIdx.y * kFilters, first_column = blockIdx.x * kColumns;
  const int first = min((rank * kSlices + slice) * shares.quads_of_slice, shares.quads);
  const int quads = min(shares.quads_of_slice, shares.quads - first);

  // Four quads are under way, in registers. Filters depend on no launch before this one, and come first.
  Quad next[2][2];
  auto filters =
      filter_quads<kFilters, kCells, kPacked>(of_filters, layer, shares, first_filter, first, lane);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < quads) filters.fetch(next[i / 2][i % 2], lane);
  }
  cudaGridDependencySynchronize();
  CellQuads<kCells> cells(input, layer, shares, first_column, first, lane);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < quads) cells.fetch(next[i / 2][i % 2]);
  }
  if (split > 1 && threadIdx.x == 0) {
    expect(full, sizeof(float4) * split << shares.share_bits);
  }
  // Says that this block has begun and its barrier is there, and no more: an arrival that also
  // published earlier writes would delay it by a fence of some 500 cycles.
  if (split > 1) __cluster_barrier_arrive_relaxed();

  // The bias belongs to one of the sums that meet at the end.
  float sums[kF][4] = {};
  if (bias != nullptr && slice == 0 && rank == 0) {
#pragma unroll
    for (int i = 0; i < kF; ++i) {
      const float own_bias = bias[min(first_filter + filter_of(lane, i), layer.K - 1)];
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] = own_bias;
    }
  }
  // Two quads at a time, in either half of the warp's own part of shared memory, which no other warp reads: nobody waits
  // for anybody else.
  float4* const own = on_chip + slice * kSlice4;
  // Layers whose blocks meet nobody run up to a quarter faster one behind the other than with this after the loop; in
  // clusters they do not.
  if (split == 1) let_next_launch_begin();
  for (int i = 0; i < quads; i += 4) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int left = quads - i - 2 * pair;
      if (left > 0) {
        float4* const here = own + 2 * pair * kQuad4;
        put<kFilters, kCells, kPacked>(next[pair][0], here, lane);
        if (left > 1) put<kFilters, kCells, kPacked>(next[pair][1], here + kQuad4, lane);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          if (left > 4 + j) filters.fetch(next[pair][j], lane), cells.fetch(next[pair][j]);
        }
        multiply(here + row_of(lane), here + kFilters + column_of(lane), min(left, 2), sums);
      }
    }
  }

  if (split > 1) let_next_launch_begin();

  // The warps' sums, then the blocks'.
  __syncwarp();
  put_sums(sums, own, lane);
  __syncthreads();
  using Unit = std::conditional_t<kCells == GemmCells::fours, float4, float>;
  constexpr int kThreads = kSlices * kWarpSize, kWidth = sizeof(Unit) / sizeof(float);
  const GemmOutputs outputs{output, relu, layer, shares, first_filter, first_column};
  if (split == 1) {
    add_up_and_store<Unit, kFilters, kThreads>(reinterpret_cast<const Unit*>(on_chip),
                                               kSlice4 * 4 / kWidth, kSlices, 0, kFilters, outputs);
    return;
  }
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  cluster.barrier_wait();  // all have begun: their shared memory is there
  constexpr int kTurns = (kTile4 + kThreads - 1) / kThreads;
  float4 of_turn[kTurns];
  add_up_slices<kTile4, kSlice4, kSlices>(on_chip, of_turn);
  // Each block adds up a share of the sums, and is sent it by all.
  const int bits = shares.share_bits, share = 1 << bits;
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int at = i * kThreads + threadIdx.x, owner = at >> bits;
    if (at >= kTile4) continue;
    float4* const to = cluster.map_shared_rank(of_blocks, owner) + at + ((rank - owner) << bits);
    const float4 sum = of_turn[i];
    ptx::st_async(reinterpret_cast<float*>(to), {sum.x, sum.y, sum.z, sum.w},
                  cluster.map_shared_rank(full, owner));
  }
  wait_for_all(full);
  add_up_and_store<Unit, kFilters / 2, kThreads>(reinterpret_cast<const Unit*>(of_blocks),
                                                 share * 4 / kWidth, split, rank * share / 8,
                                                 share / 8, outputs);
}

template <int kF, int kSlices, GemmCells kCells, bool kPacked>
int launch(const LayerCall& call, const GemmPlan& plan) {
  const LayerNumbers& layer = call.layer;
  const GemmShares shares = shares_of(layer, plan);
  const auto kernel = implicit_gemm_kernel<kF, kSlices, kCells, kPacked>;
  const int bytes = shared_bytes(plan);
  cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  if (status != cudaSuccess) return status;
  const dim3 grid((shares.columns + kColumns - 1) / kColumns,
                  (layer.K + plan.filters - 1) / plan.filters, plan.split);
  return launch_clusters(
      dim3(1, 1, plan.split), call.overlaps, kernel, grid, dim3(plan.slices * kWarpSize), bytes,
      static_cast<cudaStream_t>(call.stream), call.input, kPacked ? call.packed : call.filters,
      call.output, call.bias, call.relu, layer, shares);
}

}  // namespace

int implicit_gemm(const LayerCall& call, const GemmPlan& plan) {
  const auto with = [&](auto f, auto slices, auto packed) {
    constexpr int kF = f.value, kSlices = slices.value;
    constexpr bool kPacked = packed.value;
    if (columns_in_fours(call.layer)) {
      return launch<kF, kSlices, GemmCells::fours, kPacked>(call, plan);
    }
    return is_pointwise(call.layer) ? launch<kF, kSlices, GemmCells::same, kPacked>(call, plan)
                                    : launch<kF, kSlices, GemmCells::taps, kPacked>(call, plan);
  };
  if (!plan.packed) {
    if (plan.filters == 16) {
      return dispatch<2, 8>(
          plan.slices, [&](auto slices) { return with(Number<4>(), slices, Number<false>()); });
    }
    return dispatch<4, 8>(plan.slices,
                          [&](auto slices) { return with(Number<8>(), slices, Number<false>()); });
  }
  // Each of these is compiled three times: no more of them than all_gemm_plans() needs.
  if (plan.filters == 16) {
    return dispatch<2, 8, 16>(
        plan.slices, [&](auto slices) { return with(Number<4>(), slices, Number<true>()); });
  }
  return dispatch<1, 4, 8, 16>(
      plan.slices, [&](auto slices) { return with(Number<8>(), slices, Number<true>()); });
}

}  // namespace halo::convolve
