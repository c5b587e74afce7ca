// Stage 12, step 5: a row in registers. Every cell is read once and written once.
//
// Computes   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]) with
//            m[n] = max over c of input[n][c].
// Changed    since 3 fused_parallel: a thread keeps its cells in registers, not in shared memory, up to eight times 16
//            bytes of them, and all its loads are under way before it uses the first. A row is shared out over lanes
//            of a warp, which need no barrier, as long as it has up to 512 cells, then over a block. A warp has a maximum
//            of its own, and sums what it has; maxima and sums of the warps are joined at once, with one barrier.
// Must cost  8 bytes per cell, the least possible, in requests of 512 bytes where rows begin on 16 bytes.
// Run        ./halo run 12 --variant one_read
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/row.cuh"

namespace halo::fused_softmax {

// Preconditions: team_of(N, C) has these numbers, and kThreads is its block_threads(); as many blocks as N rows need. Piece is float4
// only if C is a multiple of four and both arrays are 16-byte aligned.
template <class Piece, int kPieces, int kTeam, int kThreads, int kRows>
__global__ void __launch_bounds__(kThreads) one_read_kernel(const float* input,  // [N][C]
                                                            float* output,       // [N][C]
                                                            int N, int C) {
  constexpr int kBlockRows = kThreads / kTeam;
  constexpr int kLanes = kTeam < kWarpSize ? kTeam : kWarpSize;
  // A second row would overwrite parts that warps still read of the first.
  static_assert(kRows == 1 || kTeam <= kWarpSize);
  __shared__ float2 parts[(kTeam - 1) / kWarpSize + 1];  // of the row's warps

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
      const bool exists = row < N && p * kTeam + own < pieces;
      cells[r][p] = exists ? from[p * kTeam + own] : nothing(Piece());
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const int row = first_row + r * kBlockRows;
    Piece* const to = reinterpret_cast<Piece*>(output + (long long)row * C);
    // [doc:row]
    const Part own_lanes = exponentials<kLanes>(cells[r]);
    float share;
    if constexpr (kTeam > kWarpSize) {
      share = share_of(cells[r], own_lanes, join_warps<kTeam>(own_lanes, parts));
    } else {
      share = 1.0f / own_lanes.sum;
    }
    // [/doc:row]
#pragma unroll
    for (int p = 0; p < kPieces; ++p) {
      if (row < N && p * kTeam + own < pieces) {
        to[p * kTeam + own] = product(cells[r][p], share);
      }
    }
  }
}

int one_read_by_cluster(const SoftmaxCall& c);  // step 6
SoftmaxKernel fused_parallel();                 // step 3

using Kernel = void (*)(const float*, float*, int, int);

template <class Piece, int kTeam, int kRows, int... kPieces>
static Kernel with_pieces(int pieces) {
  return dispatch<kPieces...>(pieces, [](auto number) -> Kernel {
    return one_read_kernel<Piece, number.value, kTeam, block_of(kTeam), kRows>;
  });
}

// Only what team_of may say is compiled.
template <class Piece, int kTeam>
static Kernel kernel_of(const Team& team) {
  constexpr bool kFloats = sizeof(Piece) == sizeof(float), kWarp = kTeam <= kWarpSize;
  if constexpr (kFloats && kWarp) {
    if (team.rows > 1) return with_pieces<Piece, kTeam, kShortRows, 1>(1);
  }
  if constexpr (kWarp && (!kFloats || kTeam < kWarpSize)) {
    return with_pieces<Piece, kTeam, 1, 4, 3, 2, 1>(team.pieces);
  } else if constexpr (kFloats) {
    return with_pieces<Piece, kTeam, 1, 16, 8, 7, 6, 5, 4, 3, 2, 1>(team.pieces);
  } else {
    return with_pieces<Piece, kTeam, 1, 8, 7, 6, 5, 4, 3, 2, 1>(team.pieces);
  }
}

// From compute capability 9.0 on.
static bool has_clusters() {
  int device = 0, major = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major >= 9;
}

static int launch(const SoftmaxCall& c) {
  const bool clusters = c.C <= kBlockCells || has_clusters();
  const Team team = team_of(c.N, c.C, clusters);
  if (team.threads == 0) return clusters ? one_read_by_cluster(c) : fused_parallel().launch(c);

  const Kernel kernel = dispatch<512, 256, 128, 32, 16, 8, 4>(team.threads, [&](auto t) {
    return team.width == 4 ? kernel_of<float4, t.value>(team) : kernel_of<float, t.value>(team);
  });
  return launch_overlapping(c.overlaps, kernel, (c.N - 1) / (team.block_rows() * team.rows) + 1,
                            team.block_threads(), 0, nullptr, c.input, c.output, c.N, c.C);
}

SoftmaxKernel one_read() {
  return {.description = "a row in the registers of lanes, of a block or of a cluster; one read",
          .launch = launch,
          .can_overlap = true,
          .tuned = true,
          .tiles = {{.N = kWarpSize, .C = kWarpCells + 3},
                    {.C = kBlockCells},
                    {.C = kMostBlocks * 128 * most_pieces(1) + 1}}};
}

}  // namespace halo::fused_softmax
