// Winograd's method, in three kernels.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        transformed inputs and sums go through memory. In one kernel all frequencies of a tile must be on chip
//            together, so a block has only 16 or 32 tiles and reads shared memory once for five or six
//            multiply-adds. Between kernels each frequency is a product of matrices by itself, with blocks as large
//            as we like, 128 filters x 128 tiles, once for eight; or where there are few tiles, as with one image,
//            small enough for all SMs. And strides, which only the transforms see.
// Must cost  36 floats for each tile of 16 outputs, written and read, of each channel and of each filter: 4.5
//            times input and output. With few tiles that is a loss, and so it is with few channels; with many
//            images and channels arithmetic takes longer than all that traffic.
#include "common/convolve/winograd/apart_products.cuh"
#include "common/convolve/winograd/apart_transforms.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: gridDim.x = blocks of tiles * division.channels; kStrided unless strides are 1; division.tile_pitch a
// multiple of 4. Neighbouring threads have neighbouring tiles, whose patches overlap: they read the same cells.
template <int kShape, bool kStrided>
__global__ void __launch_bounds__(kThreads)
    transform_inputs_kernel(const float* input,  // [images][C][H][W]
                            float* transformed,  // [kFrequencies][channels][tile_pitch]
                            LayerNumbers layer, ApartDivision division, int images,
                            Divisor blocks) {                 // of tiles
  const int channel = static_cast<int>(blockIdx.x) / blocks;  // of a phase
  const int tile = (blockIdx.x - channel * blocks.value) * kThreads + threadIdx.x;
  wait_for_launches_before();
  if (tile >= division.tile_pitch) return;
  float* const to = transformed + channel * division.tile_pitch + tile;
  const int next = division.channels * division.tile_pitch;
  transform_patch<Apart<kShape>, kStrided>(
      input, layer, division, images, true, channel, tile,
      [&](int frequency, float value) { to[frequency * next] = value; });
  // The products may begin, and not before: their blocks go where there is room, and while others still transform
  // that is two here and none there. (Called first, at one image it made some layers take twice as long.)
  let_next_launch_begin();
}

// Preconditions: gridDim.x = blocks of tiles * K; Piece as finish_tile has it.
template <int kShape, class Piece>
__global__ void __launch_bounds__(kThreads)
    transform_sums_kernel(const float* sums,  // [kFrequencies][K][tile_pitch]
                          float* output,      // [images][K][P][Q]
                          const float* bias,  // [K], or null
                          bool relu, LayerNumbers layer, ApartDivision division, int images,
                          Divisor blocks) {  // of tiles
  const int k = static_cast<int>(blockIdx.x) / blocks;
  const int tile = (blockIdx.x - k * blocks.value) * kThreads + threadIdx.x;
  wait_for_launches_before();
  const float* const from = sums + k * division.tile_pitch + tile;
  const int next = layer.K * division.tile_pitch;
  finish_tile<Apart<kShape>, Piece>([&](int frequency) { return from[frequency * next]; }, output,
                                    bias, relu, layer, division, images, k, tile);
}

int winograd_apart(const LayerCall& call, const ApartDivision& division) {
  const LayerNumbers& layer = call.layer;
  return dispatch<0, 1, 2, 3>(division.shape, [&](auto shape) {
    using W = Apart<shape.value>;
    const ApartBlock block = kApartBlocks[division.block];
    const auto products = dispatch<0, 1, 2, 3, 4, 5>(
        division.block, [](auto number) { return products_kernel<number.value>; });
    const int bytes = block.shared_bytes();
    cudaError_t status =
        cudaFuncSetAttribute(products, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const auto transform_sums = layer.Q % W::kOutputs == 0
                                    ? transform_sums_kernel<shape.value, typename W::Piece>
                                    : transform_sums_kernel<shape.value, float>;
    const Divisor tile_blocks = (division.tile_pitch - 1) / kThreads + 1;
    const Divisor pieces = (division.group_filters - 1) / block.filters + 1;
    const int groups = layer.K / division.group_filters;
    const int products_of_tiles = (division.tile_pitch - 1) / block.tiles + 1;
    float* const transformed = call.workspace;
    float* const sums =
        transformed + 1ll * W::kFrequencies * division.channels * division.tile_pitch;
    const auto transform_inputs = division.phases == 1 ? transform_inputs_kernel<shape.value, false>
                                                       : transform_inputs_kernel<shape.value, true>;
    const cudaStream_t stream = static_cast<cudaStream_t>(call.stream);
    for (int n = 0; n < layer.N && status == cudaSuccess; n += division.images) {
      const int images = min(division.images, layer.N - n);
      // Within a call each kernel begins while the one before it ends; calls overlap only if they are asked to.
      status = launch_overlapping(
          call.overlaps || n > 0, transform_inputs, tile_blocks * division.channels, kThreads, 0,
          stream, call.input + static_cast<long long>(n) * layer.C * layer.H * layer.W, transformed,
          layer, division, images, tile_blocks);
      if (status != cudaSuccess) break;
      status = launch_overlapping(
          true, products, dim3(pieces * products_of_tiles, W::kFrequencies * groups),
          block.threads(), bytes, stream, call.packed, transformed, sums,
          division.group_channels.value, division.group_filters, division, pieces);
      if (status != cudaSuccess) break;
      status =
          launch_overlapping(true, transform_sums, tile_blocks * layer.K, kThreads, 0, stream, sums,
                             call.output + static_cast<long long>(n) * layer.K * layer.P * layer.Q,
                             call.bias, call.relu, layer, division, images, tile_blocks);
    }
    return static_cast<int>(status);
  });
}

}  // namespace halo::convolve
