// Stage 13, step 4: the last layers of a small network in one kernel.
//
// Computes   for each image fully connected layers, one after the other, each with bias and perhaps ReLU:
//            cells[k] = bias[k] + sum over f of filters[k][f] * cells of the layer before[f]; then softmax.
// Changed    since 3 fully_connected_lanes: with one image such a layer takes less time than its launch. So the
//            layers stay together: the blocks of a cluster share the outputs of each layer, tell each other what
//            they found, wait for each other, and go on with the next layer. Four launches become one.
// Must cost  all filters once for each image, from the L2 cache: of LeNet 0.43 MB. A batch is better off with
//            kernels that read them once for several images. Cells go from block to block on chip; each layer's outputs
//            are stored besides, for whoever wants to look.
// Run        ./halo run 13 --network lenet --batch 1
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "stages/13_network/last_layers.hpp"

namespace halo::network {

constexpr int kLastThreads = 512;
constexpr int kLastWarps = kLastThreads / kWarpSize;

// [doc:last_layers]
// Preconditions: clusters of kLastBlocks blocks, one for each image; features of all layers are multiples of four and
// no more than kMostFeatures; filters are 16-byte aligned.
__global__ void __launch_bounds__(kLastThreads)
    last_layers_kernel(const float* input,  // [N][features of the first layer]
                       float* output,       // [N][categories]
                       const LastLayers layers) {
  __shared__ float4 on_chip[2][kMostFeatures / 4];  // a layer's cells, and the next one's
  const auto cluster = cooperative_groups::this_cluster();
  const int rank = blockIdx.x % kLastBlocks, n = blockIdx.x / kLastBlocks;
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  cudaTriggerProgrammaticLaunchCompletion();  // where calls overlap; else both do nothing
  cudaGridDependencySynchronize();

  float* cells = reinterpret_cast<float*>(on_chip[0]);
  float* next = reinterpret_cast<float*>(on_chip[1]);
  const int inputs = layers.layer[0].features;
  for (int f = threadIdx.x; f < inputs; f += kLastThreads) cells[f] = input[n * inputs + f];
  cluster.sync();  // all have begun, and the cells of each are there

  for (int i = 0; i < layers.count; ++i) {
    const LastLayer layer = layers.layer[i];
    const float4* const quads = reinterpret_cast<const float4*>(cells);
    for (int k = rank * kLastWarps + warp; k < layer.outputs; k += kLastBlocks * kLastWarps) {
      const float4* const row = reinterpret_cast<const float4*>(layer.filters + k * layer.features);
      const float bias = layer.bias[k];  // on its way with the first taps
      float sum = 0;
#pragma unroll 8  // so many taps are under way at a time
      for (int f = lane; f < layer.features / 4; f += kWarpSize) {
        const float4 tap = row[f], cell = quads[f];
        sum += tap.x * cell.x + tap.y * cell.y + tap.z * cell.z + tap.w * cell.w;
      }
      for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
      sum += bias;
      if (layer.relu && sum < 0.0f) sum = 0.0f;  // NaN stays
      // A lane tells a block, and the first one whoever looks later.
      if (lane < kLastBlocks) cluster.map_shared_rank(next, lane)[k] = sum;
      if (lane == 0) layer.stored[n * layer.outputs + k] = sum;
    }
    cluster.sync();
    float* const used = cells;
    cells = next;
    next = used;
  }
  // [/doc:last_layers]

  // Softmax, by one warp: there are few categories.
  if (rank > 0 || warp > 0) return;
  const int categories = layers.layer[layers.count - 1].outputs;
  float largest = -INFINITY, sum = 0;
  for (int c = lane; c < categories; c += kWarpSize) largest = fmaxf(largest, cells[c]);
  for (int step = 16; step > 0; step /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, step));
  }
  for (int c = lane; c < categories; c += kWarpSize) sum += next[c] = expf(cells[c] - largest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  for (int c = lane; c < categories; c += kWarpSize) output[n * categories + c] = next[c] / sum;
}

int last_layers(int images, const float* input, float* output, const LastLayers& layers,
                bool overlaps) {
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = kLastBlocks;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = overlaps;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(images * kLastBlocks);
  config.blockDim = dim3(kLastThreads);
  config.attrs = attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelEx(&config, last_layers_kernel, input, output, layers);
}

}  // namespace halo::network
