// Stage 08: only the filters divided.
//
// Computes   one layer of many channels, any stride and padding.
// Changed    since 1 channels_divided: each SM has K / SMs whole filters (the paper's Fig. 2c), so an
//            output is summed in one place. They stay on chip for the whole kernel; the maps walk
//            past them, all of them past every block.
// Must cost  the filters once; the input once for each block: with 132 SMs 132 times, however few
//            filters each has.
// Run        halo run 08
#include "stages/08_multi_channel_stride_fixed/block.cuh"
#include "stages/08_multi_channel_stride_fixed/multi_channel_stride_fixed.hpp"

namespace halo::multi_channel_stride_fixed {

// [doc:kernel]
// Preconditions: a block for this layer as block_plan.hpp makes it, of kFilters filters; gridDim.x =
// block.groups; blockDim.x = block.pixels.
template <int kFilters>
__global__ void __launch_bounds__(1024)
    filters_divided_kernel(const float* input,    // [N][C][H][W]
                           const float* filters,  // [K][C][R][S]
                           float* output,         // [N][K][P][Q]
                           Layer layer, Block block) {
  extern __shared__ float4 on_chip[];
  const int taps = layer.C * layer.R * layer.S;
  const int pitch = block.pitch;
  float* const own_filters = reinterpret_cast<float*>(on_chip);  // [kFilters][pitch]
  float* const ring = own_filters + kFilters * pitch;            // [ring][line]

  const int first_filter = blockIdx.x * kFilters;
  copy_segment(filters, own_filters, layer, first_filter, kFilters, pitch, 0, taps);

  // All maps, tile by tile.
  const int tiles = layer.N * block.tiles_down * block.tiles_across;
  for (int tile = 0; tile < tiles; ++tile) {
    const Corner corner = corner_of(block, tile);
    const Target target = target_of(layer, block, corner);
    int lines = lines_until(layer, block, min(block.segment, taps));
    if (tile > 0) __syncthreads();  // the lines of the tile before have been read
    copy_lines(input, ring, layer, block, corner, 0, lines);
    __pipeline_commit();

    float sums[kFilters] = {};
    Tap tap = first_tap_of_channel(block, 0);
    for (int first = 0; first < taps; first += block.segment) {
      __pipeline_wait_prior(0);
      __syncthreads();
      const int next = first + block.segment;
      if (next < taps) {
        const int next_lines = lines_until(layer, block, min(next + block.segment, taps));
        copy_lines(input, ring, layer, block, corner, lines, next_lines);
        __pipeline_commit();
        lines = next_lines;
      }
      if (target.exists) {
        multiply(own_filters + first, ring, layer, block, target, pitch,
                 min(block.segment, taps - first), tap, sums);
      }
    }
    if (target.exists) store(sums, output, layer, corner, target, first_filter);
  }
}
// [/doc:kernel]

template <int kFilters>
cudaError_t launch(const float* input, const float* filters, float* output, const Layer& layer,
                   const Block& block) {
  const int floats = kFilters * block.pitch + block.ring * block.line;
  const int bytes = floats * static_cast<int>(sizeof(float));
  const cudaError_t status = cudaFuncSetAttribute(
      filters_divided_kernel<kFilters>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  filters_divided_kernel<kFilters>
      <<<block.groups, block.pixels, bytes>>>(input, filters, output, layer, block);
  return cudaGetLastError();
}

cudaError_t filters_divided(const float* input, const float* filters, float* output,
                            const Layer& layer, const Block& block) {
  switch (block.filters) {
    case 1:
      return launch<1>(input, filters, output, layer, block);
    case 2:
      return launch<2>(input, filters, output, layer, block);
    case 4:
      return launch<4>(input, filters, output, layer, block);
    case 8:
      return launch<8>(input, filters, output, layer, block);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace halo::multi_channel_stride_fixed
