// A layer as one matrix product.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        the product is of filters [K][R*S*C] and cells [R*S*C][N*P*Q], of which the second one is never written
//            down. Small layers have few tiles of outputs, so the reduction is divided: over the warps of a block,
//            each of which has a whole tile to itself, and over the blocks of a cluster, which add up in each
//            other's shared memory (distributed shared memory). Rows there are swizzled.
// Must cost  each filter once for each 32 columns, each cell R*S times for each tile of filters, each output once.
//            832 channels of 7 x 7 and 256 filters of 1 x 1: 2 * 0.85 MB + 8 * 0.16 MB + 0.05 MB, the loads
//            from the L2 cache.
#include <type_traits>

#include "common/convolve/cluster.cuh"
#include "common/convolve/implicit_gemm/division.hpp"
#include "common/harness/overlap.h"

namespace halo::convolve {

namespace {

// Where a lane's cells come from. What a layer does not need is left out of its kernel: a small layer runs one
// warp on a scheduler, and there each instruction before the first load takes four cycles.
enum class Cells {
  fours,  // 1 x 1, stride 1, no padding, channels and images in fours: four columns at once
  same,   // the same, but any image: an output lies where its cell does
  taps,   // any layer
};

// What the host works out for all threads.
struct Shares {
  int columns, quads, quads_of_tap, quads_of_slice;
  int pitch;       // of a row of packed filters
  int share_bits;  // of a tile each block of a cluster adds up and stores 2^share_bits float4
  Divisor by_map, by_row, by_quads, by_filter_row;
};

__device__ float4 operator+(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__device__ float4 sum_of(const float4* parts, int pitch, int count) {
  float4 sum = parts[0];
#pragma unroll 8
  for (int i = 1; i < count; ++i) sum = sum + parts[i * pitch];
  return sum;
}

// Preconditions: gridDim = (tiles of columns, tiles of filters, split), clusters along z; blockDim.x = 32 *
// kSlices; dynamic shared memory as shared_bytes says. A thread has kF filters and four columns of a tile.
template <int kF, int kSlices, Cells kCells>
__global__ void __launch_bounds__(kSlices* kWarpSize, 16 / kSlices)
    implicit_gemm_kernel(const float* input,                // [N][C][H][W]
                         const float* __restrict__ packed,  // [R][S][C in quads][pitch]
                         float* output,                     // [N][K][P][Q]
                         const float* __restrict__ bias,    // [K], or null
                         bool relu, const LayerNumbers layer, const Shares shares) {
  constexpr int kFilters = 4 * kF;  // of a tile
  constexpr bool kFours = kCells == Cells::fours, kTaps = kCells == Cells::taps;
  // In float4: a quad's filters and cells, four quads of a slice, the sums of a tile.
  constexpr int kQuad4 = kFilters + kColumns, kSlice4 = 4 * kQuad4,
                kTile4 = kFilters * kColumns / 4;
  extern __shared__ float4
      on_chip[];  // [kSlices][kSlice4]; with a cluster, its blocks' sums and a barrier after
  const int lane = threadIdx.x % kWarpSize, slice = threadIdx.x / kWarpSize;
  const int split = gridDim.z, rank = blockIdx.z;
  const int first_filter = blockIdx.y * kFilters, first_column = blockIdx.x * kColumns;
  const int first = min((rank * kSlices + slice) * shares.quads_of_slice, shares.quads);
  const int quads = min(shares.quads_of_slice, shares.quads - first);
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();

  // Four quads are under way, in registers (with asynchronous copies, straight into shared memory, small
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

  // A lane's column; columns that do not exist are the last ones once more: nobody stores them. Of it the
  // next cell to fetch, which from one quad to the next is one addition away.
  const int map = layer.H * layer.W;
  const int own_row = kFours ? lane / 8 : 0;  // of a quad
  const int m = kFours ? min(first_column + lane % 8 * 4, shares.columns - 4)
                       : min(first_column + lane, shares.columns - 1);
  const int n = m / shares.by_map;
  int c = first * kQuad + own_row, r = 0, s = 0;
  int place = n * (layer.C - 1) * map + m, h = 0, w = 0;  // of tap (0, 0) in channel 0
  if (kTaps) {
    const int pq = m - n * layer.P * layer.Q, p = pq / shares.by_row;
    h = p * layer.stride_h - layer.padding_h;
    w = (pq - p * layer.Q) * layer.stride_w - layer.padding_w;
    place = n * layer.C * map + h * layer.W + w;
    const int tap = first / shares.by_quads;
    c = (first - tap * shares.quads_of_tap) * kQuad;
    r = tap / shares.by_filter_row;
    s = tap - r * layer.S;
  }
  const float* cell;
  bool exists = true;
  const auto go_to_channel = [&](int channel) {
    cell = input + place + r * layer.W + s + channel * map;
    if (kTaps) exists = h + r >= 0 && h + r < layer.H && w + s >= 0 && w + s < layer.W;
  };
  go_to_channel(c);
  const auto fetch_cells = [&](Quad& quad) {
    if (kFours) {
      quad.cells = *reinterpret_cast<const float4*>(cell);
    } else if (!kTaps) {
      quad.cells = {cell[0], cell[map], cell[2 * map], cell[3 * map]};
    } else {  // rows after the last channel are zeros, as their filters are
      quad.cells = float4{};
      if (exists) quad.cells.x = cell[0];
      if (exists && c + 1 < layer.C) quad.cells.y = cell[map];
      if (exists && c + 2 < layer.C) quad.cells.z = cell[2 * map];
      if (exists && c + 3 < layer.C) quad.cells.w = cell[3 * map];
    }
    cell += kQuad * map;
    if (kTaps && (c += kQuad) >= layer.C) {
      c = 0;
      if (++s == layer.S) s = 0, ++r;
      go_to_channel(0);
    }
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i < quads) fetch_cells(next[i / 2][i % 2]);
  }

  // Each block of a cluster has a barrier, full when all have sent it their parts, counted in bytes. (A static
  // barrier would move what lies after it: kernels of one warp took 15 % longer.)
  float4* const of_blocks = on_chip + kSlices * kSlice4;  // [split][share]
  std::uint64_t* const full = reinterpret_cast<std::uint64_t*>(of_blocks + kTile4);
  if (split > 1 && threadIdx.x == 0) {
    expect(full, sizeof(float4) * split << shares.share_bits);
  }
  // Says that this block has begun and its barrier is there, and no more: an arrival that also
  // published earlier writes would delay it by a fence of some 500 cycles.
  if (split > 1) __cluster_barrier_arrive_relaxed();
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
  // Lanes are 4 x 8, and two that are side by side read the same filters, or the same columns:
  // then 16 bytes per lane take two passes through the banks instead of four.
  const auto row_of = [](int l) { return (l >> 1 & 1) | (l >> 4) << 1; };
  const auto column_of = [](int l) { return (l & 1) | (l >> 2 & 3) << 1; };
  // The bias belongs to one of the sums that meet at the end.
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
        // The next row is read while this one is multiplied; after the last one, that one again.
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

  // A tile's sums lie row by row, [kFilters][kColumns]; of every other four rows the halves are exchanged, so
  // that the two rows which lanes of one pass store have no bank conflicts.
  using Unit = std::conditional_t<kFours, float4, float>;  // that is stored at once
  constexpr int kThreads = kSlices * kWarpSize, kWidth = sizeof(Unit) / sizeof(float);
  constexpr int kRow = kColumns / kWidth;  // units of a row
  const auto half_of = [](int row) { return row & 4; };
  // Adds `count` parts of a tile's rows first_row ... first_row + rows - 1, of which there are at most `most`, and
  // stores them. All of a thread's sums come before its first store: one after the other each would
  // wait for its own reads.
  const auto add_up = [&](const Unit* parts, int pitch, int count, int first_row, int rows,
                          auto most) {
    constexpr int kStep = kThreads / kRow, kTurns = (most.value + kStep - 1) / kStep;
    const int unit = threadIdx.x % kRow, own_row = threadIdx.x / kRow;
    Unit of_turn[kTurns] = {};
#pragma unroll(kTurns < 4 ? 4 / kTurns : 1)
    for (int part = 0; part < count; ++part) {
#pragma unroll
      for (int i = 0; i < kTurns; ++i) {
        const int at = own_row + i * kStep;
        if (at < rows) {
          const int place = unit ^ half_of(first_row + at) * kRow / 8;
          of_turn[i] = of_turn[i] + parts[part * pitch + at * kRow + place];
        }
      }
    }
    const int column = first_column + unit * kWidth;
    if (column >= shares.columns) return;
    const int area = layer.P * layer.Q, k = first_filter + first_row + own_row;
    const float lowest = relu ? 0.0f : -INFINITY;
#pragma unroll
    for (int i = 0; i < kTurns * kWidth; ++i) {
      float& sum = reinterpret_cast<float*>(of_turn)[i];
      if (sum < lowest) sum = lowest;  // not fmaxf, which turns a NaN into a number
    }
    float* const to = output + (column / shares.by_map * (layer.K - 1) + k) * area + column;
#pragma unroll
    for (int i = 0; i < kTurns; ++i) {
      if (own_row + i * kStep < rows && k + i * kStep < layer.K) {
        *reinterpret_cast<Unit*>(to + i * kStep * area) = of_turn[i];
      }
    }
  };
  // The warps' sums in their order, then the blocks' in theirs: the same bits each time.
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kF; ++i) {
    const int at = i / 4 * 16 + row_of(lane) * 4 + i % 4;
    own[at * 8 + (column_of(lane) ^ half_of(at))] = *reinterpret_cast<const float4*>(sums[i]);
  }
  __syncthreads();
  if (split == 1) {
    add_up(reinterpret_cast<const Unit*>(on_chip), kSlice4 * 4 / kWidth, kSlices, 0, kFilters,
           Number<kFilters>());
    return;
  }
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
    float4* const to = cluster.map_shared_rank(of_blocks, owner) + at + ((rank - owner) << bits);
    const float4 sum = of_turn[i];
    ptx::st_async(reinterpret_cast<float*>(to), {sum.x, sum.y, sum.z, sum.w},
                  cluster.map_shared_rank(full, owner));
  }
  wait_for_all(full);
  add_up(reinterpret_cast<const Unit*>(of_blocks), share * 4 / kWidth, split, rank * share / 8,
         share / 8, Number<kFilters / 2>());
}

template <int kF, int kSlices, Cells kCells>
int launch(const LayerCall& call, const GemmPlan& plan) {
  const LayerNumbers& layer = call.layer;
  Shares shares{};
  shares.columns = columns_of(layer);
  shares.quads = static_cast<int>(quads_of(layer));
  shares.quads_of_tap = quads_of_tap(layer);
  shares.quads_of_slice = quads_of_slice(layer, plan);
  shares.pitch = packed_row(layer);
  while ((plan.filters * kColumns / 4 / plan.split) >> (shares.share_bits + 1)) ++shares.share_bits;
  shares.by_map = layer.P * layer.Q;
  shares.by_row = layer.Q;
  shares.by_quads = shares.quads_of_tap;
  shares.by_filter_row = layer.S;

  const auto kernel = implicit_gemm_kernel<kF, kSlices, kCells>;
  const int bytes = shared_bytes(plan);
  cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  if (status != cudaSuccess) return status;
  const dim3 grid((shares.columns + kColumns - 1) / kColumns,
                  (layer.K + plan.filters - 1) / plan.filters, plan.split);
  return launch_clusters(dim3(1, 1, plan.split), call.overlaps, kernel, grid,
                         dim3(plan.slices * kWarpSize), bytes,
                         static_cast<cudaStream_t>(call.stream), call.input, call.packed,
                         call.output, call.bias, call.relu, layer, shares);
}

}  // namespace

int implicit_gemm(const LayerCall& call, const GemmPlan& plan) {
  const auto with = [&](auto f, auto slices) {
    if (columns_in_fours(call.layer)) {
      return launch<f.value, slices.value, Cells::fours>(call, plan);
    }
    return is_pointwise(call.layer) ? launch<f.value, slices.value, Cells::same>(call, plan)
                                    : launch<f.value, slices.value, Cells::taps>(call, plan);
  };
  // Each of these is compiled three times: no more of them than all_gemm_plans() needs.
  if (plan.filters == 16) {
    return dispatch<2, 8, 16>(plan.slices, [&](auto slices) { return with(Number<4>(), slices); });
  }
  return dispatch<1, 4, 8, 16>(plan.slices, [&](auto slices) { return with(Number<8>(), slices); });
}

}  // namespace halo::convolve
