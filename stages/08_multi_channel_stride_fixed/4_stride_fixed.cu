// Stage 08, step 4: the stride-fixed block method.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 3 maps_divided: both the filters and the maps are divided. A block has W'x target
//            pixels and M' filters, and walks along the filters in segments of S bytes. S no
//            longer depends on the filter's size: 32 or 64 bytes, so that every read of filters
//            is whole sectors; the lines that a segment touches are loaded to go with it.
// Must cost  the input once for each M' filters, the filters once for each W'x pixels. 512 channels of
//            28 x 28 (1.6 MB) and 512 filters of 3 x 3 (9.4 MB), with 64 filters and 4 x 28 pixels:
//            8 * 1.6 + 7 * 9.4 = 79 MB; the lines that tiles share and requests off the sector
//            border come in addition.
// Run        ./halo run 08 --variant stride_fixed_32
#include <cuda_pipeline.h>

#include "common/harness/async_copy.h"
#include "stages/08_multi_channel_stride_fixed/ring.cuh"

namespace halo::multi_channel_stride_fixed {

// Preconditions: a block for this layer, as block_plan.hpp makes it; gridDim.x = tiles of all images *
// block.groups; blockDim = (block.pixels, block.filters / kFiltersPerThread).
__global__ void __launch_bounds__(1024)
    stride_fixed_kernel(const float* input,    // [N][C][H][W]
                        const float* filters,  // [K][C][R][S]
                        float* output,         // [N][K][P][Q]
                        const LayerNumbers layer, const Block block) {
  extern __shared__ float4 on_chip[];
  const int pitch = block.pitch;
  float* segment = reinterpret_cast<float*>(on_chip);        // [filters][pitch], in use
  float* next_segment = segment + block.filters * pitch;     // [filters][pitch], under way
  float* const ring = next_segment + block.filters * pitch;  // [ring][line], both

  // Blocks with the same pixels and other filters are neighbours: they run at the same time, and
  // the second finds the first one's lines in the L2 cache. (The other way round they would share
  // filters, which are more bytes on small maps and fewer on large ones.)
  const int first_filter = blockIdx.x % block.groups * block.filters;
  const Corner corner = corner_of(block, blockIdx.x / block.groups);
  const Target target = target_of(layer, block, corner);
  const int own_filter = threadIdx.y * kFiltersPerThread;  // of the block's

  // The taps of a filter are one run, [C][R][S]. The lines that they need are numbered alike, from
  // channel to channel: line channel_lines * c + j is row j of those that the block needs of channel
  // c. The ring has line L at place L mod ring, where it follows one that no tap needs any more.
  const int taps = layer.C * layer.R * layer.S;
  const int threads = blockDim.x * blockDim.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  int lines = 0;  // that are here or under way
  int count = 0;  // taps of the segment in use: in the first round there is none yet
  float sums[kFiltersPerThread] = {};
  Tap tap = first_tap_of_channel(block, 0);
  // [doc:rounds]
  for (int first = -block.segment; first < taps; first += block.segment) {
    if (first >= 0) {
      // The segment is here, and nobody still reads the places that the next one will take.
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    const int next = first + block.segment;
    const int next_count = min(block.segment, taps - next);
    if (next_count > 0) {
      // These copies are under way while the block computes, and need no registers. (Before Ampere there
      // is no such instruction: nvcc makes loads and stores of it, which wait.)
      // The lanes of a warp read along a filter: with 8 taps per segment, 4 filters per request.
      for (int i = thread; i < block.filters * next_count; i += threads) {
        const int m = i / next_count;
        const int e = next + i % next_count;
        const bool exists = first_filter + m < layer.K;  // else zeros will do
        const float* from = exists ? filters + (first_filter + m) * taps + e : filters;
        copy_or_zero_async<4>(next_segment + m * pitch + e - next, from, exists);
      }
      // [/doc:rounds]
      // A line that the segment before straddles is here already: only what lies beyond it is new.
      const int next_lines = end_of_lines(layer, block, next + next_count - 1);
      copy_lines(ring, input, layer, block, corner, lines, next_lines, thread, threads);
      // [doc:multiply]
      __pipeline_commit();
      lines = next_lines;
    }
    if (count > 0 && target.exists) {
      multiply(segment + own_filter * pitch, ring, layer, block, target, pitch, count, tap, sums);
    }
    float* const used = segment;
    segment = next_segment;
    next_segment = used;
    count = next_count;
  }
  // [/doc:multiply]
  if (target.exists) store(sums, output, layer, corner, target, first_filter + own_filter);
}

int stride_fixed(const LayerCall& call, const Block& block) {
  const dim3 threads(block.pixels, block.filters / kFiltersPerThread);
  const int blocks = call.layer.N * block.tiles_down * block.tiles_across * block.groups;
  const int floats = 2 * block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  const cudaError_t status =
      cudaFuncSetAttribute(stride_fixed_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const auto stream = static_cast<cudaStream_t>(call.stream);
  stride_fixed_kernel<<<blocks, threads, bytes, stream>>>(call.input, call.filters, call.output,
                                                          call.layer, block);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
