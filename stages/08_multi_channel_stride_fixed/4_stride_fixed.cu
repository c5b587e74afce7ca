// Stage 08: the stride-fixed block method.
//
// Computes   one layer of many channels, any stride and padding.
// Changed    since 3 maps_divided: both the filters and the maps are divided. A block has W'x target
//            pixels and M' filters, and walks along the filters in segments of S bytes. S is no
//            matter of the filter's size any more: 32 or 64 bytes, so that every read of filters is
//            whole sectors; the lines that a segment touches are loaded to go with it.
// Must cost  the input once for each M' filters, the filters once for each W'x pixels. 512 channels of
//            28 x 28 (1.6 MB) and 512 filters of 3 x 3 (9.4 MB), with 64 filters and 4 x 28 pixels:
//            8 * 1.6 + 7 * 9.4 = 79 MB; the lines that tiles share and requests off the sector
//            border come on top.
// Run        halo run 08
#include "stages/08_multi_channel_stride_fixed/block.cuh"
#include "stages/08_multi_channel_stride_fixed/multi_channel_stride_fixed.hpp"

namespace halo::multi_channel_stride_fixed {

// [doc:kernel]
// Preconditions: a block for this layer as block_plan.hpp makes it; gridDim.x = tiles of all images *
// block.groups; blockDim = (block.pixels, block.filters / kFiltersPerThread).
__global__ void __launch_bounds__(1024) stride_fixed_kernel(const float* input,    // [N][C][H][W]
                                                            const float* filters,  // [K][C][R][S]
                                                            float* output,         // [N][K][P][Q]
                                                            Layer layer, Block block) {
  extern __shared__ float4 on_chip[];
  const int pitch = block.pitch;
  float* segment = reinterpret_cast<float*>(on_chip);        // [filters][pitch], in use
  float* next_segment = segment + block.filters * pitch;     // [filters][pitch], on its way
  float* const ring = next_segment + block.filters * pitch;  // [ring][line], both

  // Blocks with the same pixels and other filters are neighbours: they run at the same time, and
  // the second finds the first one's lines in the L2 cache. (The other way round they would share
  // filters, which are more bytes on small maps and fewer on large ones.)
  const int first_filter = blockIdx.x % block.groups * block.filters;
  const Corner corner = corner_of(block, blockIdx.x / block.groups);
  const Target target = target_of(layer, block, corner);
  const int own_filter = threadIdx.y * kFiltersPerThread;  // of the block's

  const int taps = layer.C * layer.R * layer.S;
  int count = min(block.segment, taps);
  int lines = lines_until(layer, block, count);
  copy_segment(filters, segment, layer, first_filter, block.filters, pitch, 0, count);
  copy_lines(input, ring, layer, block, corner, 0, lines);
  __pipeline_commit();

  float sums[kFiltersPerThread] = {};
  Tap tap = first_tap_of_channel(block, 0);
  for (int first = 0; first < taps; first += block.segment) {
    // The segment is here, and nobody reads the places any more that the next one will take.
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = first + block.segment;
    const int next_count = min(block.segment, taps - next);
    if (next_count > 0) {
      copy_segment(filters, next_segment, layer, first_filter, block.filters, pitch, next,
                   next_count);
      // Straddled lines are here already: only what lies beyond them is new.
      const int next_lines = lines_until(layer, block, next + next_count);
      copy_lines(input, ring, layer, block, corner, lines, next_lines);
      __pipeline_commit();
      lines = next_lines;
    }
    if (target.exists) {
      multiply(segment + own_filter * pitch, ring, layer, block, target, pitch, count, tap, sums);
    }
    float* const used = segment;
    segment = next_segment;
    next_segment = used;
    count = next_count;
  }
  if (target.exists) store(sums, output, layer, corner, target, first_filter + own_filter);
}
// [/doc:kernel]

cudaError_t stride_fixed(const float* input, const float* filters, float* output,
                         const Layer& layer, const Block& block) {
  const dim3 threads(block.pixels, block.filters / kFiltersPerThread);
  const int blocks = layer.N * block.tiles_down * block.tiles_across * block.groups;
  const int floats = 2 * block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  const cudaError_t status =
      cudaFuncSetAttribute(stride_fixed_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  stride_fixed_kernel<<<blocks, threads, bytes>>>(input, filters, output, layer, block);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
