// Stage 08, step 2: only the filters divided.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 1 channels_divided: each SM has K / SMs whole filters (the paper's Fig. 2c), so an
//            output is summed in one place. They stay on chip for the whole kernel; the maps walk
//            past them, all of them past every block.
// Must cost  the filters once; the input once for each block: with 132 SMs 132 times, however few
//            filters each has.
// Run        ./halo run 08 --variant filters_divided
#include <cuda_pipeline.h>

#include "common/harness/async_copy.h"
#include "stages/08_multi_channel_stride_fixed/ring.cuh"

namespace halo::multi_channel_stride_fixed {

// Preconditions: a block for this layer, as block_plan.hpp makes it, of kFilters filters; gridDim.x =
// block.groups; blockDim.x = block.pixels.
template <int kFilters>
__global__ void __launch_bounds__(1024)
    filters_divided_kernel(const float* input,    // [N][C][H][W]
                           const float* filters,  // [K][C][R][S]
                           float* output,         // [N][K][P][Q]
                           const LayerNumbers layer, const Block block) {
  extern __shared__ float4 on_chip[];
  const int taps = layer.C * layer.R * layer.S;
  const int pitch = block.pitch;
  float* const own_filters = reinterpret_cast<float*>(on_chip);  // [kFilters][pitch]
  float* const ring = own_filters + kFilters * pitch;            // [ring][line]

  const int first_filter = blockIdx.x * kFilters;
  for (int i = threadIdx.x; i < kFilters * taps; i += blockDim.x) {
    const int m = i / taps;
    const bool exists = first_filter + m < layer.K;  // else zeros will do
    const float* from = exists ? filters + (first_filter + m) * taps + i % taps : filters;
    copy_or_zero_async<4>(own_filters + m * pitch + i % taps, from, exists);
  }

  // All maps, tile by tile.
  const int tiles = layer.N * block.tiles_down * block.tiles_across;
  for (int tile = 0; tile < tiles; ++tile) {
    const Corner corner = corner_of(block, tile);
    const Target target = target_of(layer, block, corner);
    if (tile > 0) __syncthreads();  // the lines of the tile before have been read

    // Segment by segment, as far as lines go: those that the next one needs are under way.
    int lines = 0;
    float sums[kFilters] = {};
    Tap tap = first_tap_of_channel(block, 0);
    for (int first = -block.segment; first < taps; first += block.segment) {
      if (first >= 0) {
        __pipeline_wait_prior(0);
        __syncthreads();
      }
      const int next = first + block.segment;
      const int next_count = min(block.segment, taps - next);
      if (next_count > 0) {
        // A line that the segment before straddles is here already: only what lies beyond it is new.
        const int next_lines = end_of_lines(layer, block, next + next_count - 1);
        copy_lines(ring, input, layer, block, corner, lines, next_lines, threadIdx.x, blockDim.x);
        __pipeline_commit();
        lines = next_lines;
      }
      if (first >= 0 && target.exists) {
        multiply(own_filters + first, ring, layer, block, target, pitch,
                 min(block.segment, taps - first), tap, sums);
      }
    }
    if (target.exists) store(sums, output, layer, corner, target, first_filter);
  }
}

// block.filters is 1, 2, 4 or 8.
int filters_divided(const LayerCall& call, const Block& block) {
  const auto kernel = dispatch<1, 2, 4, 8>(
      block.filters, [](auto filters) { return filters_divided_kernel<filters.value>; });
  const int floats = block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<block.groups, block.pixels, bytes>>>(call.input, call.filters, call.output, call.layer,
                                                block);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
