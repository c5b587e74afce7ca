// Stage 13, step 4: the last layers of a small network, or all of it, in one kernel.
//
// Computes   for each image convolutions, pooling and fully connected layers, one after the other, each with bias and
//            perhaps ReLU; then softmax.
// Changed    since 3 fully_connected_lanes: with one image such a layer takes less time than its launch. So the
//            layers stay together: the blocks of a cluster share the channels of each layer, send what they found to
//            each other's shared memory, and each goes on with the next layer when it has got all of it.
// Must cost  all filters once for each image, from the L2 cache: of LeNet 0.43 MB. A batch is better off with
//            kernels that read them once for several images. Maps go from block to block on chip; each layer's outputs
//            are also stored, for inspection.
// Run        ./halo run 13 --network lenet --batch 1
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cuda/ptx>

#include "common/harness/overlap.h"
#include "stages/13_network/on_chip.cuh"

namespace halo::network {

// Preconditions: clusters of kBlocks blocks, one for each image; `net` fits, as on_chip_division.cpp has worked it out.
template <int kBlocks>
__global__ void __launch_bounds__(kOnChipThreads, 1)
    on_chip_kernel(const float* input,    // [N][C][H][W]
                   const float4* packed,  // [kBlocks][packed_quads]: taps and biases of each block
                   float* output,         // [N][categories]
                   const __grid_constant__ OnChip net) {
  extern __shared__ float4 quads[];
  float* cells = reinterpret_cast<float*>(quads);
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = blockIdx.x % kBlocks, n = blockIdx.x / kBlocks;

  // After everything else: with 48 static bytes before it dynamic memory began at no multiple of 128, and copies of 16
  // bytes took longer. Set up before the first copy: the fence in it waits for those of its thread, some 1000 cycles.
  std::uint64_t* const full = reinterpret_cast<std::uint64_t*>(cells + net.full);
  if (kBlocks > 1) expect_cells(net, rank, full);
  // One loop for the taps of all layers: they are under way together.
  const float4* const own_packed = packed + rank * net.packed_quads;
#pragma unroll 1
  for (int i = threadIdx.x; i < net.packed_quads; i += kOnChipThreads) {
    __pipeline_memcpy_async(quads + i, own_packed + i, sizeof(float4));
  }
  cudaGridDependencySynchronize();
  fetch(input + n * net.C * net.H * net.W, net, cells);
  __pipeline_commit();
  fill_up(net, cells);
  // Says that this block has begun and its barriers are there, and no more, which spares a fence: what others write it
  // has not touched.
  __cluster_barrier_arrive_relaxed();
  __pipeline_wait_prior(0);
  __syncthreads();

  for (int i = 0; i < net.count; ++i) {
    const OnChipStep& step = net.step[i];
    const int many = channels_of(step, rank), first_k = rank * step.share;
    const int own = step.to.begin + first_k * step.to.plane.value;
    const bool alone = kBlocks == 1 || step.alone;
    if (alone && rank > 0) break;  // nobody will ask for this block's memory again
    float* const sums = step.sums + (n * step.K + first_k) * step.P * step.Q;
    float* const pooled = step.pooled + (n * step.K + first_k) * step.PP * step.PQ;
    if (step.size == 0) {
      if (i == 0) cluster.barrier_wait();
      // A lane sends to one block: to all, or to the first, which goes on alone. The last lane stores the output.
      const int lane = threadIdx.x % kWarpSize, tell = net.step[i + 1].alone ? 1 : kBlocks;
      connect(step, cells, many, [&](int k, float value) {
        if (lane == kWarpSize - 1) sums[k] = value;
        if (lane == kWarpSize - 1 && step.window > 0) pooled[k] = value;
        if (alone && lane == 0) cells[own + k] = value;
        if (alone || lane >= tell) return;
        ptx::st_async(cluster.map_shared_rank(cells + own + k, lane), value,
                      cluster.map_shared_rank(full + i, lane));
      });
      if (rank > 0 && net.step[i + 1].alone) break;
    } else {
      // [doc:layer]
      convolve(step, cells, many, sums);
      __syncthreads();
      pool(step, cells, first_k, many, pooled);
      __syncthreads();
      if (i == 0) cluster.barrier_wait();  // all have begun
      hand_over<kBlocks>(cells + own, many * step.to.plane.value, rank, full + i);
      // [/doc:layer]
    }
    if (alone) {
      __syncthreads();
    } else if (kBlocks > 1) {
      while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, full + i, 0)) {
      }
    }
  }
  if (rank == 0 && threadIdx.x < kWarpSize)
    softmax(cells + net.logits, output + n * net.categories, net.categories);
}

template <int kBlocks>
int on_chip(int images, const float* input, const float* packed, float* output, const OnChip& net,
            bool overlaps) {
  const auto kernel = on_chip_kernel<kBlocks>;
  cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, net.bytes);
  // More than eight blocks of a cluster is more than every GPU with clusters has to have.
  if (kBlocks > 8 && status == cudaSuccess) {
    status = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  }
  if (status != cudaSuccess) return status;
  return launch_clusters(dim3(kBlocks), overlaps, kernel, dim3(images * kBlocks),
                         dim3(kOnChipThreads), net.bytes, nullptr, input,
                         reinterpret_cast<const float4*>(packed), output, net);
}

int on_chip(int blocks, int images, const float* input, const float* packed, float* output,
            const OnChip& net, bool overlaps) {
  return dispatch<16, 8, 4, 2, 1>(blocks, [&](auto b) {
    return on_chip<b.value>(images, input, packed, output, net, overlaps);
  });
}

}  // namespace halo::network
