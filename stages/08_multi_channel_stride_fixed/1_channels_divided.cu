// Stage 08: divided along the channels.
//
// Computes   one layer of many channels, any stride and padding, in two kernels.
// Changed    this is the first of the paper's four divisions (its Fig. 2b): the channels of filters
//            and maps are dealt out to the SMs. What a block sums up is then only a part of an
//            output. The parts go to global memory, and a second kernel adds them.
// Must cost  parts * 4 bytes written and as many read again for each output, 4 bytes more for the
//            output itself, and a launch.
// Run        halo run 08
#include "stages/08_multi_channel_stride_fixed/block.cuh"
#include "stages/08_multi_channel_stride_fixed/multi_channel_stride_fixed.hpp"

namespace halo::multi_channel_stride_fixed {

// [doc:kernel]
// Preconditions: a block for this layer as block_plan.hpp makes it; gridDim.x = tiles of all images *
// block.groups * parts, and none of the parts without a channel; blockDim = (block.pixels, block.filters / kFiltersPerThread).
__global__ void __launch_bounds__(1024)
    channels_divided_kernel(const float* input,    // [N][C][H][W]
                            const float* filters,  // [K][C][R][S]
                            float* partial,        // [parts][N][K][P][Q]
                            Layer layer, Block block, int parts) {
  extern __shared__ float4 on_chip[];
  const int pitch = block.pitch;
  float* segment = reinterpret_cast<float*>(on_chip);        // [filters][pitch], in use
  float* next_segment = segment + block.filters * pitch;     // [filters][pitch], on its way
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

  int count = min(block.segment, end - begin);
  int lines = lines_until(layer, block, begin + count);
  copy_segment(filters, segment, layer, first_filter, block.filters, pitch, begin, count);
  copy_lines(input, ring, layer, block, corner, c_begin * block.channel_lines, lines);
  __pipeline_commit();

  float sums[kFiltersPerThread] = {};
  Tap tap = first_tap_of_channel(block, c_begin);
  for (int first = begin; first < end; first += block.segment) {
    __pipeline_wait_prior(0);
    __syncthreads();
    const int next = first + block.segment;
    const int next_count = min(block.segment, end - next);
    if (next_count > 0) {
      copy_segment(filters, next_segment, layer, first_filter, block.filters, pitch, next,
                   next_count);
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
  if (target.exists) {
    store(sums, partial + part * (layer.N * layer.K * layer.P * layer.Q), layer, corner, target,
          first_filter + own_filter);
  }
}

// Adds the parts, always in the same order: with atomicAdd there would be one kernel and no
// temporaries, and another result in the last bits at every run.
__global__ void add_parts_kernel(const float* partial,  // [parts][outputs]
                                 float* output,         // [outputs]
                                 int outputs, int parts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // fewer than 2^31: outputs end 4,097 below
  if (i >= outputs) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) sum += partial[part * outputs + i];
  output[i] = sum;
}
// [/doc:kernel]

cudaError_t channels_divided(const float* input, const float* filters, float* output,
                             float* workspace, const Layer& layer, const Block& block, int parts) {
  const dim3 threads(block.pixels, block.filters / kFiltersPerThread);
  const unsigned blocks =
      static_cast<unsigned>(layer.N * block.tiles_down * block.tiles_across) * block.groups * parts;
  const int floats = 2 * block.filters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  cudaError_t status = cudaFuncSetAttribute(channels_divided_kernel,
                                            cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  channels_divided_kernel<<<blocks, threads, bytes>>>(input, filters, workspace, layer, block,
                                                      parts);
  status = cudaGetLastError();
  if (status != cudaSuccess) return status;

  const int outputs = layer.N * layer.K * layer.P * layer.Q;
  add_parts_kernel<<<(outputs - 1) / 256 + 1, 256>>>(workspace, output, outputs, parts);
  return cudaGetLastError();
}

}  // namespace halo::multi_channel_stride_fixed
