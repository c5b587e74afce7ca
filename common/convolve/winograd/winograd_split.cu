// Winograd's method with its products on Hopper's tensor cores.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero; a bias and ReLU may follow.
// How        the transforms are winograd_apart.cu's, the products warpgroup.cu's: each frequency is an image, whose pixels are
//            the layer's filters and whose filters its tiles. So the filters, of which there are 36 numbers where there were
//            9, are read once and as they are, and what wgmma wants in two parts of TF32 is the smaller factor, which is
//            transformed in each call anyway. With many images it would be the larger one.
// Must cost  as winograd_apart.cu, but transformed inputs are twice as many bytes, and filters are in whole 128s, or 64s.
//            Its error is normwise, as there.
#include "common/convolve/warpgroup/tile.hpp"
#include "common/convolve/winograd/apart_transforms.cuh"
#include "common/harness/tf32.h"

namespace halo::convolve {

// In warpgroup.cu.
int warpgroup(const LayerCall& call, const WarpgroupTile& tile, WarpgroupPixelsBy by,
              const WarpgroupTiles& tiles, int blocks);

namespace {

// A warp has 4 channels of 8 tiles: in the order of wgmma's matrices that is one run.
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kBlockChannels = 4 * kWarps, kBlockTiles = 8;

// Leaves [kFrequencies][groups][pieces][4 steps][big, small][8 tiles][4 channels, 4 more][tile][channel], as
// pack_warpgroup leaves filters; tiles and channels that fill up the last group and piece are zeros. Preconditions:
// gridDim = (chunks of kBlockChannels, of all pieces; chunks of kBlockTiles, of all groups).
template <int kShape, bool kStrided>
__global__ void __launch_bounds__(kThreads)
    split_inputs_kernel(const float* input,  // [images][C][H][W]
                        float* transformed, LayerNumbers layer, ApartDivision division, int images,
                        WarpgroupTile group, WarpgroupTiles products) {
  constexpr int kDepth = 8;  // channels of a step
  const int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  const int channel = blockIdx.x * kBlockChannels + warp * 4 + lane % 4;
  const int tile = blockIdx.y * kBlockTiles + lane / 4;
  // A block of the products needs all registers of an SM: it begins where none of these is left.
  let_next_launch_begin();
  wait_for_launches_before();
  const int in_group = tile % group.filters, in_piece = channel % kWarpgroupChannels;
  const long long piece =
      static_cast<long long>(tile / group.filters) * products.pieces + channel / kWarpgroupChannels;
  const int part = group.filters * kDepth, of_piece = 2 * group.filters * kWarpgroupChannels;
  float* to = transformed + piece * of_piece + in_piece / kDepth * 2 * part + in_group / 8 * 64 +
              in_piece % kDepth / 4 * 32 + lane;
  const long long next = 1ll * products.groups.value * products.pieces * of_piece;
  transform_patch<Apart<kShape>, kStrided>(
      input, layer, division, images, channel < division.channels, channel, tile,
      [&](int frequency, float value) {
        const Tf32Parts parts = tf32_parts(value);
        to[frequency * next] = __uint_as_float(parts.big);
        to[frequency * next + part] = __uint_as_float(parts.small);
      });
}

// A warp has 8 filters of 4 tiles: whole sectors of sums, and nearly so of outputs. Preconditions: gridDim = (pieces of 32
// filters, pieces of 4 tiles); Piece as finish_tile has it.
template <int kShape, class Piece>
__global__ void __launch_bounds__(kThreads)
    split_sums_kernel(const float* sums,  // [kFrequencies][tile_pitch][filter_pitch]
                      float* output,      // [images][K][P][Q]
                      const float* bias,  // [K], or null
                      bool relu, LayerNumbers layer, ApartDivision division, int images) {
  const int k = blockIdx.x * 32 + threadIdx.x / kWarpSize * 8 + threadIdx.x % 8;
  const int tile = blockIdx.y * 4 + threadIdx.x % kWarpSize / 8;
  wait_for_launches_before();
  if (k >= layer.K) return;
  const float* const from = sums + static_cast<long long>(tile) * division.filter_pitch + k;
  const long long next = static_cast<long long>(division.tile_pitch) * division.filter_pitch;
  finish_tile<Apart<kShape>, Piece>([&](int frequency) { return from[frequency * next]; }, output,
                                    bias, relu, layer, division, images, k, tile);
}

}  // namespace

int winograd_split(const LayerCall& call, const ApartDivision& division, const WarpgroupTile& group,
                   const WarpgroupTiles& tiles, int blocks) {
  const LayerNumbers& layer = call.layer;
  return dispatch<0, 1, 2, 3>(division.shape, [&](auto shape) {
    using W = Apart<shape.value>;
    const auto split_inputs = division.phases == 1 ? split_inputs_kernel<shape.value, false>
                                                   : split_inputs_kernel<shape.value, true>;
    const auto split_sums = layer.Q % W::kOutputs == 0
                                ? split_sums_kernel<shape.value, typename W::Piece>
                                : split_sums_kernel<shape.value, float>;
    // The matrices, as a layer of 1 x 1 filters.
    LayerCall products = call;
    products.layer = {};
    products.layer.N = W::kFrequencies;
    products.layer.C = division.channels;
    products.layer.H = products.layer.P = products.layer.R = products.layer.S = 1;
    products.layer.W = products.layer.Q = division.filter_pitch;
    products.layer.K = division.tile_pitch;
    products.layer.stride_h = products.layer.stride_w = 1;
    products.input = call.packed;
    products.packed = call.workspace;
    products.bias = nullptr;
    products.relu = false;
    products.overlaps = true;
    float* const sums = call.workspace + 1ll * W::kFrequencies * tiles.groups.value * tiles.pieces *
                                             group.filter_floats();
    products.output = sums;
    const dim3 inputs(tiles.pieces * (kWarpgroupChannels / kBlockChannels),
                      tiles.groups.value * (group.filters / kBlockTiles));
    const dim3 outputs((layer.K - 1) / 32 + 1, (division.tile_pitch - 1) / 4 + 1);
    const cudaStream_t stream = static_cast<cudaStream_t>(call.stream);
    for (int n = 0; n < layer.N; n += division.images) {
      const int images = min(division.images, layer.N - n);
      cudaError_t status =
          launch_overlapping(call.overlaps || n > 0, split_inputs, inputs, kThreads, 0, stream,
                             call.input + static_cast<long long>(n) * layer.C * layer.H * layer.W,
                             call.workspace, layer, division, images, group, tiles);
      if (status != cudaSuccess) return static_cast<int>(status);
      const int failed = warpgroup(products, group, WarpgroupPixelsBy::matrices, tiles, blocks);
      if (failed != 0) return failed;
      status =
          launch_overlapping(true, split_sums, outputs, kThreads, 0, stream, sums,
                             call.output + static_cast<long long>(n) * layer.K * layer.P * layer.Q,
                             call.bias, call.relu, layer, division, images);
      if (status != cudaSuccess) return static_cast<int>(status);
    }
    return 0;
  });
}

}  // namespace halo::convolve
