// Stage 08, step 1: divided along the channels.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero. In two kernels: the second is add_parts.cu.
// Changed    this is the first of the paper's four divisions (its Fig. 2b): the channels of filters
//            and maps are dealt out to the SMs. What a block sums up is then only a part of an
//            output. The parts go to global memory, and a second kernel adds them.
// Must cost  parts * 4 bytes written and as many read again for each output, 4 bytes more for the
//            output itself, and a launch.
// Run        ./halo run 08 --variant channels_divided
#include <cuda_pipeline.h>

#include "common/harness/async_copy.h"
#include "stages/08_multi_channel_stride_fixed/ring.cuh"

namespace halo::multi_channel_stride_fixed {

int add_parts(const LayerCall& call, int parts);  // at the end of add_parts.cu

// Preconditions: a block for this layer, as block_plan.hpp makes it; gridDim.x = tiles of all images *
// block.groups * parts, and none of the parts without a channel; blockDim = (block.pixels, block.filters / kFiltersPerThread).
__global__ void __launch_bounds__(1024)
    channels_divided_kernel(const float* input,    // [N][C][H][W]
                            const float* filters,  // [K][C][R][S]
                            float* partial,        // [parts][N][K][P][Q]
                            const LayerNumbers layer, const Block block, int parts) {
  extern __shared__ float4 on_chip[];
  const int pitch = block.pitch;
  float* segment = reinterpret_cast<float*>(on_chip);        // [filters][pitch], in use
  float* next_segment = segment + block.filters * pitch;     // [filters][pitch], under way
  float* const ring = next_segment + block.filters * pitch;  // [ring][line], both

  const int part = blockIdx.x % parts;
  const int share = blockIdx.x / parts;
  const int first_filter = share % block.groups * block.filters;
  const Corner corner = corner_of(block, share / block.groups);
  const Target target = target_of(layer, block, corner);
  const int own_filter = threadIdx.y * kFiltersPerThread;  // of the block's

  // The block's channels, and their taps.
  const int channels = (layer.C - 1) / parts + 1;
  const int c_begin = part * channels;
  const int c_end = min(c_begin + channels, layer.C);
  const int begin = c_begin * layer.R * layer.S;
  const int end = c_end * layer.R * layer.S;

  // Lines are numbered from channel to channel: line channel_lines * c + j is row j of those that the
  // block needs of channel c. The ring has line L at place L mod ring.
  const int taps = layer.C * layer.R * layer.S;
  const int threads = blockDim.x * blockDim.y;
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  int lines = c_begin * block.channel_lines;  // up to here they are on chip or under way
  int count = 0;  // taps of the segment in use: in the first round there is none yet
  float sums[kFiltersPerThread] = {};
  Tap tap = first_tap_of_channel(block, c_begin);
  for (int first = begin - block.segment; first < end; first += block.segment) {
    if (first >= begin) {
      // The segment is here, and nobody still reads the places that the next one will take.
      __pipeline_wait_prior(0);
      __syncthreads();
    }
    const int next = first + block.segment;
    const int next_count = min(block.segment, end - next);
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
      // A line that the segment before straddles is here already: only what lies beyond it is new.
      const int next_lines = end_of_lines(layer, block, next + next_count - 1);
      copy_lines(ring, input, layer, block, corner, lines, next_lines, thread, threads);
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
  if (target.exists) {
    store(sums, partial + part * (layer.N * layer.K * layer.P * layer.Q), layer, corner, target,
          first_filter + own_filter);
  }
}

// Each of `parts` blocks for the same outputs sums over C / parts channels, rounded up, the last over
// what is left, which is one at least. The workspace is [parts][N][K][P][Q].
int channels_divided(const LayerCall& call, const Block& block, int parts) {
  const LayerNumbers& layer = call.layer;
  const dim3 threads(block.pixels, block.filters / kFiltersPerThread);
  const unsigned blocks =
      static_cast<unsigned>(layer.N * block.tiles_down * block.tiles_across) * block.groups * parts;
  const int floats = 2 * block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  cudaError_t status = cudaFuncSetAttribute(channels_divided_kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  channels_divided_kernel<<<blocks, threads, bytes>>>(call.input, call.filters, call.workspace,
                                                      layer, block, parts);
  status = cudaGetLastError();
  return status != cudaSuccess ? static_cast<int>(status) : add_parts(call, parts);
}

}  // namespace halo::multi_channel_stride_fixed
