// Stage 12, step 5: a row in registers. Every cell is read once and written once.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c].
// Changed    since 3 fused_parallel: a thread keeps its cells in registers, not in shared memory, up to eight times 16
//            bytes of them, and all its loads are on their way before it uses the first. A row is shared out over as few
//            threads as that allows: over lanes of a warp, which need no barrier, as long as it has up to 1,024 cells.
//            With few rows it is the other way round: more threads with less work each.
// Must cost  8 bytes a cell, the least there is, in requests of 512 bytes where rows begin on 16 bytes.
// Run        ./halo run 12 --variant one_read
#include <cuda_runtime.h>

#include <type_traits>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/row.cuh"

namespace halo::fused_softmax {

// [doc:one_read]
// Preconditions: team_of(N, C) has these numbers, and kThreads is its block_threads(); as many blocks as N rows need. Piece is float4
// only if C is a multiple of four and both arrays are 16-byte aligned.
template <class Piece, int kPieces, int kTeam, int kThreads, int kRows>
__global__ void __launch_bounds__(kThreads)
    one_read_kernel(const float* __restrict__ input,  // [N][C]
                    float* __restrict__ output,       // [N][C]
                    int N, int C) {
  constexpr int kBlockRows = kThreads / kTeam;
  constexpr int kWarps = (kTeam - 1) / kWarpSize + 1;  // of a row
  __shared__ float partials[2][kWarps];

  let_next_launch_begin();  // where calls overlap; else both do nothing
  wait_for_launches_before();
  const int pieces = C / (static_cast<int>(sizeof(Piece)) / 4);
  const int own = threadIdx.x % kTeam;
  const int first_row = blockIdx.x * (kBlockRows * kRows) + threadIdx.x / kTeam;

  // All loads first. A piece that does not exist changes neither maximum nor sum.
  Piece cells[kRows][kPieces];
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + r * kBlockRows;
    const Piece* const from = reinterpret_cast<const Piece*>(input + (long long)row * C);
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      fill(cells[r][p], -INFINITY);
      if (row < N && p * kTeam + own < pieces) cells[r][p] = from[p * kTeam + own];
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    float largest = Largest::identity;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) largest = fmaxf(largest, reduce(cells[r][p], Largest()));
    if constexpr (kTeam > kWarpSize) {
      largest = reduce_block<kTeam>(largest, partials[0], Largest());
    } else {
      largest = reduce_lanes<kTeam>(largest, Largest());
    }
    float sum = Sum::identity;
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      cells[r][p] = exponential(cells[r][p], largest);
      sum += reduce(cells[r][p], Sum());
    }
    if constexpr (kTeam > kWarpSize) {
      sum = reduce_block<kTeam>(sum, partials[1], Sum());
    } else {
      sum = reduce_lanes<kTeam>(sum, Sum());
    }
    const int row = first_row + r * kBlockRows;
    Piece* const to = reinterpret_cast<Piece*>(output + (long long)row * C);
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      if (row < N && p * kTeam + own < pieces) to[p * kTeam + own] = quotient(cells[r][p], sum);
    }
  }
}
// [/doc:one_read]

int one_read_by_cluster(const SoftmaxCall& c);  // step 6

static int launch(const SoftmaxCall& c) {
  const Team team = team_of(c.N, c.C);
  if (team.threads == 0) return one_read_by_cluster(c);

  // Few of these numbers meet: what cannot be is not compiled.
  using Kernel = void (*)(const float*, float*, int, int);
  const Kernel kernel = dispatch<4, 1>(team.width, [&](auto width) {
    return dispatch<512, 256, 128, 32, 16, 8, 4>(team.threads, [&](auto threads) {
      constexpr bool kBlock = threads.value > kWarpSize, kWarp = threads.value == kWarpSize;
      constexpr bool kFloats = width.value == 1;
      constexpr int kThreads = block_of(threads.value);
      using Piece = std::conditional_t<kFloats, float, float4>;
      if constexpr (kBlock || kWarp) {
        return dispatch < 1, 2, 4, 8,
               kFloats ? 16 : 8 > (team.pieces, [&](auto pieces) {
                                return dispatch < kWarp && kFloats && pieces.value == 1 ? kShortRows
                                                                                        : 1,
                                       1 > (team.rows, [&](auto rows) -> Kernel {
                                         return one_read_kernel<Piece, pieces.value, threads.value,
                                                                kThreads, rows.value>;
                                       });
                              });
      } else {
        return dispatch < kFloats ? kShortRows : 1,
               1 > (team.rows, [&](auto rows) -> Kernel {
                 return one_read_kernel<Piece, 1, threads.value, kThreads, rows.value>;
               });
      }
    });
  });
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((c.N - 1) / (team.block_rows() * team.rows) + 1);
  config.blockDim = dim3(team.block_threads());
  cudaLaunchAttribute overlap;
  config.attrs = &overlap;
  config.numAttrs = overlap_attribute(c.overlaps, overlap);
  return cudaLaunchKernelEx(&config, kernel, c.input, c.output, c.N, c.C);
}

SoftmaxKernel one_read() {
  return {.description = "a row in the registers of lanes, of a block or of a cluster; one read",
          .launch = launch,
          .can_overlap = true,
          .tuned = true,
          .tiles = {{.N = kWarpSize, .C = kWarpSize},
                    {.C = kWarpSize * kMostPieces * 4},
                    {.C = kMostTeam * kMostPieces * 4 + 4}}};
}

}  // namespace halo::fused_softmax
