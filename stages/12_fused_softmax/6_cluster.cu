// Stage 12, step 6: a row in the registers of a cluster of blocks.
//
// Computes   the softmax of rows that do not fit the registers of one block.
// Changed    since 5 one_read: up to 16 blocks have a row together, as many as it needs. Each leaves its maximum and its
//            sum in the shared memory of all others. Rows of up to 262,144 cells are still read once; longer ones go
//            through step 3.
// Must cost  8 bytes a cell; into the shared memory of the other blocks 8 bytes from each.
// Run        ./halo run 12 --variant one_read --problem 2x40000
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "stages/12_fused_softmax/row.cuh"

namespace halo::fused_softmax {

// [doc:cluster]
// Preconditions: clusters of blocks_of_row(C) blocks of kClusterTeam threads, one for each row; Piece as in step 5,
// kPieces its most_pieces. Two blocks an SM leave a thread 64 registers: with more, an SM has one, and waits with it.
template <class Piece, int kPieces>
__global__ void __launch_bounds__(kClusterTeam, 2) cluster_kernel(const float* input,  // [N][C]
                                                                  float* output,       // [N][C]
                                                                  int C) {
  constexpr int kWidth = static_cast<int>(sizeof(Piece)) / 4;
  __shared__ float2 of_warps[kClusterTeam / kWarpSize];
  __shared__ float2 of_blocks[kMostBlocks];

  let_next_launch_begin();  // where calls overlap; else both do nothing
  wait_for_launches_before();
  const auto cluster = cooperative_groups::this_cluster();
  __cluster_barrier_arrive_relaxed();  // this block has begun: others may write to its shared memory
  const int blocks = static_cast<int>(cluster.num_blocks());
  const int rank = static_cast<int>(cluster.block_rank());
  const int row = blockIdx.x / blocks;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = rank * kClusterTeam + thread;
  const int stride = blocks * kClusterTeam;
  const int pieces = C / kWidth;

  const Piece* const from = reinterpret_cast<const Piece*>(input + (long long)row * C);
  Piece cells[kPieces];
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    fill(cells[p], -INFINITY);
    if (p * stride + first < pieces) cells[p] = from[p * stride + first];
  }
  const Part own_lanes = exponentials<kWarpSize>(cells);
  const Part own_block = join_warps<kClusterTeam>(own_lanes, of_warps);
  // To all blocks, the own one too, and nothing is read from another: so a block may end when it has what it needs.
  cluster.barrier_wait();
  if (thread < blocks) {
    *cluster.map_shared_rank(&of_blocks[rank], thread) =
        make_float2(own_block.largest, own_block.sum);
  }
  cluster.sync();
  const float share = share_of(cells, own_lanes, join_parts(of_blocks, blocks));

  Piece* const to = reinterpret_cast<Piece*>(output + (long long)row * C);
#pragma unroll
  for (int p = 0; p < kPieces; ++p) {
    if (p * stride + first < pieces) to[p * stride + first] = product(cells[p], share);
  }
}
// [/doc:cluster]

SoftmaxKernel fused_parallel();  // step 3

// A GPU without clusters, or a row that is too long for one: step 3 reads what does not fit again.
int one_read_by_cluster(const SoftmaxCall& c) {
  const int blocks = blocks_of_row(c.C);
  int device = 0, major = 0;
  const cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (blocks == 0 || major < 9) return fused_parallel().launch(c);

  const auto kernel =
      c.C % 4 == 0 ? cluster_kernel<float4, most_pieces(4)> : cluster_kernel<float, most_pieces(1)>;
  // More than eight blocks of a cluster is more than every GPU with clusters has to have.
  cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = blocks;
  attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(c.N * blocks);
  config.blockDim = dim3(kClusterTeam);
  config.attrs = attributes;
  config.numAttrs = 1 + overlap_attribute(c.overlaps, attributes[1]);
  return cudaLaunchKernelEx(&config, kernel, c.input, c.output, c.C);
}

}  // namespace halo::fused_softmax
