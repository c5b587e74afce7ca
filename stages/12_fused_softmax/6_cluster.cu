// Stage 12, step 6: a row in the registers of a cluster of blocks.
//
// Computes   the softmax of rows that do not fit the registers of one block.
// Changed    since 5 one_read: up to 16 blocks have a row together, as many as it needs. Each sends its maximum and its
//            sum to all others' (distributed) shared memory, and waits. Rows of up to 262,144 cells are still read
//            once; longer ones go through step 3.
// Must cost  8 bytes per cell; into the shared memory of the other blocks 8 bytes from each.
// Run        ./halo run 12 --variant one_read --problem 2x40000
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/ptx>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/row.cuh"

namespace halo::fused_softmax {

namespace ptx = cuda::ptx;

// Preconditions: clusters as cluster_of(N, C) says, one for each row; Piece as in step 5. A thread has 64 registers: left
// alone, the compiler may take more, and then an SM has half the blocks, and waits with them.
template <class Piece, int kTeam, int kPieces>
__global__ void __launch_bounds__(kTeam, 1024 / kTeam) cluster_kernel(const float* input,  // [N][C]
                                                                      float* output,       // [N][C]
                                                                      int C) {
  constexpr int kWidth = static_cast<int>(sizeof(Piece)) / 4;
  __shared__ float2 of_warps[kTeam / kWarpSize];
  __shared__ float2 of_blocks[kMostBlocks];
  __shared__ std::uint64_t full;  // complete when all parts are in of_blocks

  wait_for_launches_before();
  const auto cluster = cooperative_groups::this_cluster();
  const int blocks = static_cast<int>(cluster.num_blocks());
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full,
                                   blocks * sizeof(float2));
  }
  __cluster_barrier_arrive_relaxed();  // this block has begun: others may write to its shared memory
  const int rank = static_cast<int>(cluster.block_rank());
  const int row = blockIdx.x / blocks;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = rank * kTeam + thread;
  const int stride = blocks * kTeam;
  const int pieces = C / kWidth;

  const Piece* const from = reinterpret_cast<const Piece*>(input + (long long)row * C);
  Piece cells[kPieces];
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    const int at = p * stride + first;
    cells[p] = at < pieces ? from[at] : nothing(Piece());
  }
  const Part own_lanes = exponentials<kWarpSize>(cells);
  const Part own_block = join_warps<kTeam>(own_lanes, of_warps);
  // To all blocks, the own one too, and nothing is read from another: so a block may end when it has what it needs.
  // [doc:send]
  cluster.barrier_wait();
  if (thread < blocks) {
    float2* const there = cluster.map_shared_rank(&of_blocks[rank], thread);
    ptx::st_async(reinterpret_cast<float*>(there), {own_block.largest, own_block.sum},
                  cluster.map_shared_rank(&full, thread));
  }
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, 0)) {
  }
  const float share = share_of(cells, own_lanes, join_parts(of_blocks, blocks));
  // [/doc:send]

  Piece* const to = reinterpret_cast<Piece*>(output + (long long)row * C);
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    if (p * stride + first < pieces) to[p * stride + first] = product(cells[p], share);
  }
}

SoftmaxKernel fused_parallel();  // step 3

using Kernel = void (*)(const float*, float*, int);

// Only what cluster_of may say is compiled. Of larger blocks each thread is full but for the last ones.
static Kernel kernel_of(const ClusterTeam& team, int width) {
  return dispatch<512, 256, 128>(team.threads, [&](auto threads) -> Kernel {
    constexpr int kTeam = threads.value;
    if (width == 1) {
      return dispatch<16, 8>(team.pieces > 8 ? 16 : 8, [](auto pieces) -> Kernel {
        return cluster_kernel<float, kTeam, pieces.value>;
      });
    }
    if constexpr (kTeam == 128) {
      return dispatch<8, 7, 6, 5, 4, 3, 2, 1>(team.pieces, [](auto pieces) -> Kernel {
        return cluster_kernel<float4, kTeam, pieces.value>;
      });
    } else {
      return cluster_kernel<float4, kTeam, kMostPieces>;
    }
  });
}

// Of a GPU with clusters. A row that is too long for one is read again by step 3.
int one_read_by_cluster(const SoftmaxCall& c) {
  const ClusterTeam team = cluster_of(c.N, c.C);
  if (team.blocks == 0) return fused_parallel().launch(c);

  const Kernel kernel = kernel_of(team, c.C % 4 == 0 ? 4 : 1);
  // More than eight blocks of a cluster is more than every GPU with clusters has to have.
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  if (status != cudaSuccess) return status;
  return launch_clusters(dim3(team.blocks), c.overlaps, kernel, dim3(c.N * team.blocks),
                         dim3(team.threads), 0, nullptr, c.input, c.output, c.C);
}

}  // namespace halo::fused_softmax
