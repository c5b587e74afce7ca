// Stage 09, step 5: the same sums as one matrix product, in one kernel.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 4 pointwise: any layer. The products are those of two matrices, filters [K][R*S*C] and cells
//            [R*S*C][N*P*Q], of which the second one is never written down; a tap's products are added where they are
//            made, so nothing of steps 1 and 2 is left in memory between. Small layers have few tiles of
//            outputs, so the reduction is divided: over the warps of a block, each of which has a whole tile to
//            itself, and over the blocks of a cluster, which add up in each other's shared memory.
// Must cost  each filter once for each 32 columns, each cell R*S times for each tile of filters, each output once.
//            832 channels of 7 x 7 and 256 filters of 1 x 1: 2 * 0.85 MB + 8 * 0.16 MB + 0.05 MB, the loads
//            from the L2 cache. Steps 1 and 2 ask for 42 MB there.
// Run        ./halo run 09 --variant implicit_gemm
#include <cooperative_groups.h>

#include <type_traits>

#include "common/planning/implicit_gemm.hpp"

namespace halo::cuconv_two_stage {

namespace {

// What the host works out for all threads.
struct Shares {
  int columns, quads, quads_of_tap, quads_of_slice;
  int pitch;        // of a row of packed filters
  int share_bits;   // of a tile each block of a cluster adds up and stores 2^share_bits float4
  bool same_place;  // 1 x 1, stride 1, no padding: an output lies where its cell does
  Divisor by_map, by_row, by_quads, by_filter_row;
};

__device__ int operator/(int n, Divisor d) {
  return static_cast<int>((static_cast<unsigned long long>(n) * d.multiplier) >> d.shift);
}

__device__ float4 operator+(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

// With ReLU. (Not fmaxf, which makes 0 of a NaN.)
__device__ float positive(float sum, bool relu) { return relu && sum < 0.0f ? 0.0f : sum; }
__device__ float4 positive(float4 sum, bool relu) {
  return {positive(sum.x, relu), positive(sum.y, relu), positive(sum.z, relu),
          positive(sum.w, relu)};
}

template <class Unit>
__device__ Unit sum_of(const Unit* parts, int pitch, int count) {
  Unit sum = parts[0];
#pragma unroll 8
  for (int i = 1; i < count; ++i) sum = sum + parts[i * pitch];
  return sum;
}

// Preconditions: gridDim = (tiles of columns, tiles of filters, split), clusters along z; blockDim.x = 32 *
// kSlices; dynamic shared memory as shared_bytes says. A thread has kF filters and four columns of a tile.
// kFours: columns_in_fours(layer).
template <int kF, int kSlices, bool kFours>
__global__ void __launch_bounds__(kSlices* kWarpSize, 16 / kSlices)
    implicit_gemm_kernel(const float* __restrict__ input,   // [N][C][H][W]
                         const float* __restrict__ packed,  // [R][S][C in quads][pitch]
                         float* __restrict__ output,        // [N][K][P][Q]
                         const float* __restrict__ bias,    // [K], or null
                         bool relu, const LayerNumbers layer, const Shares shares) {
  constexpr int kFilters = 4 * kF;  // of a tile
  // In float4: a quad's filters and cells, four quads of a slice, the sums of a tile.
  constexpr int kQuad4 = kFilters + kColumns, kSlice4 = 4 * kQuad4,
                kTile4 = kFilters * kColumns / 4;
  extern __shared__ float4 on_chip[];  // [kSlices][kSlice4]; with a cluster, its blocks' sums after
  const int lane = threadIdx.x % kWarpSize, slice = threadIdx.x / kWarpSize;
  const int split = gridDim.z, rank = blockIdx.z;
  const int first_filter = blockIdx.y * kFilters, first_column = blockIdx.x * kColumns;
  const int first = min((rank * kSlices + slice) * shares.quads_of_slice, shares.quads);
  const int quads = min(shares.quads_of_slice, shares.quads - first);
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  if (split > 1) cluster.barrier_arrive();
  cudaTriggerProgrammaticLaunchCompletion();  // where calls overlap; else nothing

  // Four quads are on their way, in registers (with asynchronous copies, straight into shared memory, small
  // layers took longer). A lane brings 16 bytes of a quad's filters, and of its cells: four columns of one row, or one
  // column of four rows.
  struct Quad {
    float4 filters, cells;
  } next[2][2];
  const float* filter = packed + first_filter + lane % kF * 4 +
                        static_cast<long long>(first * kQuad + lane / kF) * shares.pitch;
  const auto fetch_filters = [&](Quad& quad) {
    if (lane < kFilters) quad.filters = *reinterpret_cast<const float4*>(filter);
    filter += kQuad * shares.pitch;
  };
  // They depend on no launch before this one, and come first.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < quads) fetch_filters(next[i / 2][i % 2]);
  }
  cudaGridDependencySynchronize();

  // A lane's column, and the cell of its tap (0, 0) in channel 0. Columns that do not exist are the last
  // ones once more: nobody stores them.
  const int map = layer.H * layer.W;
  const int m = kFours ? min(first_column + lane % 8 * 4, shares.columns - 4)
                       : min(first_column + lane, shares.columns - 1);
  const int n = m / shares.by_map;
  int place = n * (layer.C - 1) * map + m, h = 0, w = 0;
  int c = first * kQuad, r = 0, s = 0;
  if (!kFours && !shares.same_place) {
    const int pq = m - n * layer.P * layer.Q, p = pq / shares.by_row;
    h = p * layer.stride_h - layer.padding_h;
    w = (pq - p * layer.Q) * layer.stride_w - layer.padding_w;
    place = n * layer.C * map + h * layer.W + w;
    const int tap = first / shares.by_quads;
    c = (first - tap * shares.quads_of_tap) * kQuad;
    r = tap / shares.by_filter_row;
    s = tap - r * layer.S;
  }
  // Rows after the last channel are that channel once more: their filters are 0.
  const auto row = [&](int i) { return input + place + min(c + i, layer.C - 1) * map; };
  const auto fetch_cells = [&](Quad& quad) {
    if (kFours) {
      quad.cells = *reinterpret_cast<const float4*>(row(lane / 8));
    } else {
      const int to_tap = r * layer.W + s;
      const bool exists = h + r >= 0 && h + r < layer.H && w + s >= 0 && w + s < layer.W;
      quad.cells = float4{};
      if (exists) {
        quad.cells = {row(0)[to_tap], row(1)[to_tap], row(2)[to_tap], row(3)[to_tap]};
      }
    }
    c += kQuad;
    if (!kFours && c >= layer.C) {
      c = 0;
      if (++s == layer.S) s = 0, ++r;
    }
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < quads) fetch_cells(next[i / 2][i % 2]);
  }

  // Each value is for several lanes of the warp, so a quad goes through shared memory, [4][kFilters] and
  // [4][kColumns], but no other warp reads it: nobody waits for anybody else.
  float4* const own = on_chip + slice * kSlice4;
  const auto put = [&](const Quad& quad, float4* to) {
    if (lane < kFilters) to[lane] = quad.filters;
    if (kFours) {
      to[kFilters + lane] = quad.cells;
    } else {
      float* const column = reinterpret_cast<float*>(to + kFilters) + lane;
      column[0] = quad.cells.x, column[kColumns] = quad.cells.y;
      column[2 * kColumns] = quad.cells.z, column[3 * kColumns] = quad.cells.w;
    }
  };
  // Lanes are 4 x 8, and of two that stand side by side the same filters are read by both, or the same
  // columns: then 16 bytes a lane take two passes through the banks instead of four.
  const auto row_of = [](int l) { return (l >> 1 & 1) | (l >> 4) << 1; };
  const auto column_of = [](int l) { return (l & 1) | (l >> 2 & 3) << 1; };
  // The bias is a part of one sum of all those that meet at the end.
  float sums[kF][4] = {};
  if (bias != nullptr && slice == 0 && rank == 0) {
#pragma unroll
    for (int i = 0; i < kF; ++i) {
      const int k = first_filter + i / 4 * 16 + row_of(lane) * 4 + i % 4;
      const float own_bias = bias[min(k, layer.K - 1)];
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] = own_bias;
    }
  }
  const auto multiply = [&](const float4* a, const float4* b, int count) {
    float4 taps[2][kF / 4], cells[2];
    const auto read = [&](int which, const float4* from_a, const float4* from_b) {
#pragma unroll
      for (int i = 0; i < kF / 4; ++i) taps[which][i] = from_a[4 * i];
      cells[which] = *from_b;
    };
    read(0, a, b);
#pragma unroll 1
    for (int quad = 1; quad <= count; ++quad) {
#pragma unroll
      for (int i = 0; i < kQuad; ++i) {
        // The next row is read while this one is multiplied; after the last one that one again.
        if (i + 1 < kQuad) {
          read((i + 1) % 2, a + (i + 1) * kF, b + (i + 1) * kColumns / 4);
        } else {
          const int step = quad < count ? kQuad4 : 0;
          read(0, a += step, b += step);
        }
        const float* const tap = reinterpret_cast<const float*>(taps[i % 2]);
        const float* const cell = reinterpret_cast<const float*>(&cells[i % 2]);
#pragma unroll
        for (int k = 0; k < kF; ++k) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[k][j] += tap[k] * cell[j];
        }
      }
    }
  };
  // [doc:gemm_loop]
  for (int i = 0; i < quads; i += 4) {
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int left = quads - i - 2 * pair;
      if (left > 0) {
        float4* const here = own + 2 * pair * kQuad4;
        put(next[pair][0], here);
        if (left > 1) put(next[pair][1], here + kQuad4);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          if (left > 4 + j) fetch_filters(next[pair][j]), fetch_cells(next[pair][j]);
        }
        multiply(here + row_of(lane), here + kFilters + column_of(lane), min(left, 2));
      }
    }
  }
  // [/doc:gemm_loop]

  // The tile's sums lie in the order [kF][lane][4]. They are stored by fours where they can be, else neighbours by
  // neighbouring lanes.
  using Unit = std::conditional_t<kFours, float4, float>;
  constexpr int kUnits = sizeof(float4) / sizeof(Unit);  // of a float4
  const auto place_of = [&](int at) -> Unit* {
    const int l = at / kUnits % kWarpSize, i = at / kUnits / kWarpSize;
    const int k = first_filter + i / 4 * 16 + row_of(l) * 4 + i % 4;
    const int column = first_column + column_of(l) * 4 + at % kUnits;
    if (k >= layer.K || column >= shares.columns) return nullptr;
    const int n = column / shares.by_map;
    return reinterpret_cast<Unit*>(output + (n * (layer.K - 1) + k) * (layer.P * layer.Q) + column);
  };
  // [doc:gemm_meet]
  // The warps' sums in their order, then the blocks' in theirs: the same bits each time.
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kF; ++i) {
    own[i * kWarpSize + lane] = *reinterpret_cast<const float4*>(sums[i]);
  }
  __syncthreads();
  constexpr int kThreads = kSlices * kWarpSize;
  if (split == 1) {
    const Unit* const of_slices = reinterpret_cast<const Unit*>(on_chip);
#pragma unroll
    for (int at = threadIdx.x; at < kTile4 * kUnits; at += kThreads) {
      if (Unit* const to = place_of(at)) {
        *to = positive(sum_of(of_slices + at, kSlice4 * kUnits, kSlices), relu);
      }
    }
    return;
  }
  float4* const of_blocks = on_chip + kSlices * kSlice4;  // [split][share]
  const int bits = shares.share_bits, share = 1 << bits;
  cluster.barrier_wait();  // all have begun: their shared memory is there
  constexpr int kTurns = (kTile4 + kThreads - 1) / kThreads;
  float4 of_turn[kTurns];
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int at = i * kThreads + threadIdx.x;
    if (at < kTile4) of_turn[i] = sum_of(on_chip + at, kSlice4, kSlices);
  }
#pragma unroll
  for (int i = 0; i < kTurns; ++i) {
    const int at = i * kThreads + threadIdx.x, owner = at >> bits;
    if (at >= kTile4) continue;
    cluster.map_shared_rank(of_blocks, owner)[at + ((rank - owner) << bits)] = of_turn[i];
  }
  cluster.sync();
  const Unit* const sent = reinterpret_cast<const Unit*>(of_blocks);
  for (int at = threadIdx.x; at < share * kUnits; at += kThreads) {
    if (Unit* const to = place_of(rank * share * kUnits + at)) {
      *to = positive(sum_of(sent + at, share * kUnits, split), relu);
    }
  }
  // [/doc:gemm_meet]
}

template <int kF, int kSlices, bool kFours>
int launch(const LayerCall& call, const GemmPlan& plan) {
  const LayerNumbers& layer = call.layer;
  Shares shares{};
  shares.columns = columns_of(layer);
  shares.quads = static_cast<int>(quads_of(layer));
  shares.quads_of_tap = quads_of_tap(layer);
  shares.quads_of_slice = quads_of_slice(layer, plan);
  shares.pitch = packed_pitch(layer);
  while ((plan.filters * kColumns / 4 / plan.split) >> (shares.share_bits + 1)) ++shares.share_bits;
  shares.same_place = is_pointwise(layer);
  shares.by_map = divisor(layer.P * layer.Q);
  shares.by_row = divisor(layer.Q);
  shares.by_quads = divisor(shares.quads_of_tap);
  shares.by_filter_row = divisor(layer.S);

  const auto kernel = implicit_gemm_kernel<kF, kSlices, kFours>;
  const int bytes = shared_bytes(plan);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = call.overlaps;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim.x = 1;
  attributes[1].val.clusterDim.y = 1;
  attributes[1].val.clusterDim.z = plan.split;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((shares.columns + kColumns - 1) / kColumns,
                        (layer.K + plan.filters - 1) / plan.filters, plan.split);
  config.blockDim = dim3(plan.slices * kWarpSize);
  config.dynamicSmemBytes = bytes;
  config.stream = static_cast<cudaStream_t>(call.stream);
  config.attrs = attributes;
  config.numAttrs = plan.split > 1 ? 2 : 1;
  return cudaLaunchKernelEx(&config, kernel, call.input, call.packed, call.output, call.bias,
                            call.relu, layer, shares);
}

}  // namespace

int implicit_gemm(const LayerCall& call, const GemmPlan& plan) {
  const auto with = [&](auto f, auto slices) {
    return columns_in_fours(call.layer) ? launch<f.value, slices.value, true>(call, plan)
                                        : launch<f.value, slices.value, false>(call, plan);
  };
  // Each of these is compiled twice: no more of them than all_gemm_plans() needs.
  if (plan.filters == 16) {
    return dispatch<2, 8>(plan.slices, [&](auto slices) { return with(Number<4>(), slices); });
  }
  return dispatch<1, 4, 8>(plan.slices, [&](auto slices) { return with(Number<8>(), slices); });
}

}  // namespace halo::cuconv_two_stage
