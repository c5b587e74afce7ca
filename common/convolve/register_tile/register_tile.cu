// A layer in tiles of registers.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        a thread has 4 or 8 pixels and 4 to 16 filters, an outer product for each tap. A segment is one tap of 16
//            channels, filters come packed in this order, and pixels are numbered across all images. Two segments
//            are under way (double buffering), and so are the next channel's numbers while this one's are multiplied.
//
//              on chip, stages of   filters [16][filters of the tile]   in use: a channel's go to registers, of which
//              a segment each       cells   [16][pixels of the tile]    the channel before it is multiplied
//                                   ... once more                       on its way
//                                   ... and once more                   on its way
//
//            Which of the tile's sums a thread has, shape.cuh shows.
// Must cost  the input R * S times for each tile's filters, the filters once for each tile's pixels. 256
//            channels of 56 x 56 (3.2 MB) and 256 filters of 3 x 3 (2.4 MB) in tiles of 64 x 128:
//            4 * 9 * 3.2 + 25 * 2.4 = 175 MB, nearly all of it from the L2 cache.
#include <type_traits>

#include "common/convolve/register_tile/parts.cuh"
#include "common/convolve/register_tile/products.cuh"
#include "common/convolve/register_tile/segments.cuh"
#include "common/convolve/register_tile/stores.cuh"
#include "common/convolve/register_tile/tap_segments.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: kFew if C < kSegmentChannels; packed as register_tile_pack leaves it; kAtOnce 4 only for 1 x 1 filters with
// stride 1, no padding and H * W a multiple of 4; gridDim.x = tiles of all filters * tiles of all pixels *
// blocks of a cluster, which are no more than there are segments; blockDim.x = the shape's threads; dynamic
// shared memory as RegisterShape::floats says.
template <int kShape, int kAtOnce, bool kFew>
__global__ void __launch_bounds__(kRegisterShapes[kShape].threads(),
                                  kRegisterShapes[kShape].blocks_of_sm)
    register_tile_kernel(const float* input,   // [N][C][H][W]
                         const float* packed,  // [segments][kSegmentChannels][packed_row], zeros
                         float* output,        // [N][K][P][Q]
                         const float* bias,    // [K], or null
                         const bool relu, const LayerNumbers layer, const PackedFilters order,
                         const TileDivisors by) {
  using T = Shape<kShape>;
  constexpr int kToPixels = kSegmentChannels * T::kFilters;
  constexpr int kToTaps = kToPixels + kSegmentChannels * T::kPixels;
  constexpr int kStage = kToTaps + (kFew ? kTapNumbers : 0);
  extern __shared__ float4 shared[];
  float* const on_chip = reinterpret_cast<float*>(shared);  // [kStages][kStage]

  // The blocks of a cluster have the same tile and other segments. Tiles with the same pixels and other filters
  // are neighbours.
  const auto cluster = cooperative_groups::this_cluster();
  const int parts = by.parts.value;
  const int part = cluster.block_rank();
  const int tile = static_cast<int>(blockIdx.x) / by.parts;
  const int first_filter = tile % by.groups * T::kFilters;
  const int first_pixel = tile / by.groups * T::kPixels;
  const TileOutputs outputs{output, relu, layer, by, first_filter, first_pixel};
  const int begin = order.segments * part / by.parts;
  const int end = order.segments * (part + 1) / by.parts;
  float* const of_parts = on_chip + kStages * kStage;
  const int most_rows = (T::kFilters - 1) / by.parts + 1;  // of a block
  std::uint64_t* const full =
      reinterpret_cast<std::uint64_t*>(of_parts + most_rows * parts * T::kPixels);
  if (parts > 1) expect_parts<T>(full, part, by);

  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int own_filter =
      warp % T::kWarpsDown * T::kRows * T::kSumFilters + (lane / 2 % 2 + lane / 16 * 2) * 4;
  const int own_pixel =
      warp / T::kWarpsDown * T::kColumns * T::kSumPixels + (lane % 2 + lane / 4 % 4 * 2) * 4;
  using Source = std::conditional_t<kFew, TapSegments<T>, Segments<T, kAtOnce>>;
  Source source(input, packed, layer, order, by, first_filter, first_pixel, begin);
  float* const first_taps = on_chip + (kStages - 1) * kStage;  // a place that is filled last
  if constexpr (kFew) {
    source.copy_first_taps(first_taps);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
  }
  cudaGridDependencySynchronize();  // where calls overlap: the input is there; else nothing
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) {
    if (begin + i < end) {
      source.copy_next(on_chip + i * kStage, first_taps + i * kTapNumbers, layer, order);
    }
    __pipeline_commit();  // of nothing, too: so the newest is always the same number of commits away
  }
  __pipeline_wait_prior(kStages - 2);
  __syncthreads();

  // The first part's sums begin with the bias: one addition, and nobody waits for it at the end.
  typename T::Sums sums = {};
  if (bias != nullptr && part == 0) begin_with<T>(bias, first_filter + own_filter, layer.K, sums);
  float filters[2][T::kSumFilters];  // of one channel, and of the next
  float pixels[2][T::kSumPixels];
  int use = 0;                        // the stage that is multiplied
  int fill = (kStages - 1) * kStage;  // the one that nobody needs any more
  read_quads<T::kRows>(on_chip + own_filter, filters[0]);
  read_quads<T::kColumns>(on_chip + kToPixels + own_pixel, pixels[0]);
#pragma unroll 1  // the body has up to 16 * 16 * 8 multiply-adds already
  for (int segment = begin; segment < end; ++segment) {
    if (segment + kStages - 1 < end) {
      source.copy_next(on_chip + fill, on_chip + use + kToTaps, layer, order);
    }
    __pipeline_commit();
    const float* channels = on_chip + use;
#pragma unroll
    for (int c = 0; c < kSegmentChannels; ++c) {
      if (c == kSegmentChannels - 1) {
        // This segment is in registers, all of it. The next one is here, and this one's place is free.
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();
        fill = use;
        use = use == (kStages - 1) * kStage ? 0 : use + kStage;
        channels = on_chip + use;
      }
      if (c < kSegmentChannels - 1 || segment + 1 < end) {
        const int row = (c + 1) % kSegmentChannels;
        const float* next_filters = channels + row * T::kFilters;
        const float* next_pixels = channels + kToPixels + row * T::kPixels;
        read_quads<T::kRows>(next_filters + own_filter, filters[(c + 1) % 2]);
        read_quads<T::kColumns>(next_pixels + own_pixel, pixels[(c + 1) % 2]);
      }
      add_products<T, kFew>(filters[c % 2], pixels[c % 2], sums);
    }
  }
  let_next_launch_begin();
  if (parts > 1) {
    send_and_add<T>(sums, of_parts, full, part, outputs, own_filter, own_pixel);
  } else if (layer.P * layer.Q % 4 == 0) {
    store_quads<T>(sums, outputs, first_filter + own_filter, first_pixel + own_pixel);
  } else {
    store_rows<T>(sums, on_chip, outputs, own_filter, own_pixel);
  }
}

template <int kShape, int kAtOnce, bool kFew = false>
static int launch(const LayerCall& call, int parts) {
  constexpr RegisterShape kTile = kRegisterShapes[kShape];
  const LayerNumbers& layer = call.layer;
  const auto kernel = register_tile_kernel<kShape, kAtOnce, kFew>;
  const int floats = kTile.floats(kFew, parts, layer.P * layer.Q % 4 == 0);
  const int bytes = floats * static_cast<int>(sizeof(float));
  if (bytes > 48 * 1024) {  // what a block gets by default
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (status != cudaSuccess) return status;
  }
  const int groups = (layer.K - 1) / kTile.filters + 1;
  const int tiles = (layer.N * layer.P * layer.Q - 1) / kTile.pixels + 1;
  const PackedFilters order = packed_filters(layer.C, layer.K, layer.R, layer.S);
  const TileDivisors by = {.parts = parts,
                           .groups = groups,
                           .map = layer.P * layer.Q,
                           .row = layer.Q,
                           .of_tap = kFew ? 1 : order.of_tap,
                           .filter_row = layer.S};
  return launch_clusters(dim3(parts), call.overlaps, kernel, dim3(groups * tiles * parts),
                         dim3(kTile.threads()), bytes, static_cast<cudaStream_t>(call.stream),
                         call.input, call.packed, call.output, call.bias, call.relu, layer, order,
                         by);
}

int register_tile(const LayerCall& call, const RegisterTile& tile) {
  if (call.layer.C < kSegmentChannels) {
    return dispatch<1, 4, 7>(tile.shape, [&](auto shape) {
      return launch<decltype(shape)::value, 1, true>(call, tile.parts);
    });
  }
  return dispatch<0, 1, 2, 3, 4, 5, 6>(tile.shape, [&](auto shape) {
    constexpr int kShape = decltype(shape)::value;
    return tile.at_once == 4 ? launch<kShape, 4>(call, tile.parts)
                             : launch<kShape, 1>(call, tile.parts);
  });
}

}  // namespace halo::convolve
