// Stage 08, step 3: only the maps divided.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// Changed    since 2 filters_divided: the other way round (the paper's Fig. 2d). Each SM has its part
//            of the map, all channels of it, on chip for the whole kernel; the filters walk past
//            it, all of them past every block.
// Must cost  the input once, and the lines that neighbours share once more; the filters once for
//            each block.
// Run        ./halo run 08 --variant maps_divided
#include <cuda_pipeline.h>

#include "common/harness/async_copy.h"
#include "stages/08_multi_channel_stride_fixed/ring.cuh"

namespace halo::multi_channel_stride_fixed {

// Preconditions: a block for this layer, as block_plan.hpp makes it, block.ring = C *
// block.channel_lines; gridDim.x = tiles of all images; blockDim = (block.pixels, block.filters /
// kFiltersPerThread).
__global__ void __launch_bounds__(1024)
    maps_divided_kernel(const float* input,    // [N][C][H][W]
                        const float* filters,  // [K][C][R][S]
                        float* output,         // [N][K][P][Q]
                        const LayerNumbers layer, const Block block) {
  extern __shared__ float4 on_chip[];
  const int pitch = block.pitch;
  float* segment = reinterpret_cast<float*>(on_chip);        // [filters][pitch], in use
  float* next_segment = segment + block.filters * pitch;     // [filters][pitch], under way
  float* const maps = next_segment + block.filters * pitch;  // [C][channel_lines][line]

  const Corner corner = corner_of(block, blockIdx.x);
  const Target target = target_of(layer, block, corner);
  const int own_filter = threadIdx.y * kFiltersPerThread;  // of the block's
  const int threads = blockDim.x * blockDim.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  // A ring that all lines fit into: none ever takes another's place.
  copy_lines(maps, input, layer, block, corner, 0, block.ring, thread, threads);

  // All filters, group by group. The first segment of a group goes to the buffer that the last round
  // of the group before did not use: it needs no barrier of its own.
  const int taps = layer.C * layer.R * layer.S;
  for (int group = 0; group < block.groups; ++group) {
    const int first_filter = group * block.filters;
    int count = 0;  // taps of the segment in use: in the first round there is none yet
    float sums[kFiltersPerThread] = {};
    Tap tap = first_tap_of_channel(block, 0);
    for (int first = -block.segment; first < taps; first += block.segment) {
      if (first >= 0) {
        __pipeline_wait_prior(0);
        __syncthreads();
      }
      const int next = first + block.segment;
      const int next_count = min(block.segment, taps - next);
      if (next_count > 0) {
        // The lanes of a warp read along a filter: with 8 taps per segment, 4 filters per request.
        for (int i = thread; i < block.filters * next_count; i += threads) {
          const int m = i / next_count;
          const int e = next + i % next_count;
          const bool exists = first_filter + m < layer.K;  // else zeros will do
          const float* from = exists ? filters + (first_filter + m) * taps + e : filters;
          copy_or_zero_async<4>(next_segment + m * pitch + e - next, from, exists);
        }
        __pipeline_commit();
      }
      if (count > 0 && target.exists) {
        multiply(segment + own_filter * pitch, maps, layer, block, target, pitch, count, tap, sums);
      }
      if (next_count > 0) {
        float* const used = segment;
        segment = next_segment;
        next_segment = used;
      }
      count = next_count;
    }
    if (target.exists) store(sums, output, layer, corner, target, first_filter + own_filter);
  }
}

int maps_divided(const LayerCall& call, const Block& block) {
  const dim3 threads(block.pixels, block.filters / kFiltersPerThread);
  const int blocks = call.layer.N * block.tiles_down * block.tiles_across;
  const int floats = 2 * block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  const cudaError_t status =
      cudaFuncSetAttribute(maps_divided_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  maps_divided_kernel<<<blocks, threads, bytes>>>(call.input, call.filters, call.output, call.layer,
                                                  block);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
