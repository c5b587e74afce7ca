// A layer in tiles of registers.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        a thread has 4 or 8 pixels and 4 to 16 filters, an outer product for each tap. A segment is one tap of 16
//            channels, filters come packed in this order, and pixels are numbered across all images. Two segments
//            are under way (double buffering), and so are the next channel's numbers while this one's are multiplied.
// Must cost  the input R * S times for each tile's filters, the filters once for each tile's pixels. 256
//            channels of 56 x 56 (3.2 MB) and 256 filters of 3 x 3 (2.4 MB) in tiles of 64 x 128:
//            4 * 9 * 3.2 + 25 * 2.4 = 175 MB, nearly all of it from the L2 cache.
#include <type_traits>

#include "common/convolve/register_tile/register_tile.cuh"

namespace halo::convolve {

// How the lanes of a warp stand: 4 by 8, each with so many filters and pixels as a thread has.
constexpr int kRows = 4;
constexpr int kColumns = 8;

// Preconditions: kFew if C < kSegmentChannels; packed as pack_kernel leaves it; kAtOnce 4 only for 1 x 1 filters with
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
  constexpr RegisterShape kTile = kRegisterShapes[kShape];
  constexpr int kThreads =
      kTile.filters / kTile.thread_filters * (kTile.pixels / kTile.thread_pixels);
  constexpr int kToTaps = kSegmentChannels * (kTile.filters + kTile.pixels);
  constexpr int kStage = kToTaps + (kFew ? kTapNumbers : 0);
  extern __shared__ float4 shared[];
  float* const on_chip = reinterpret_cast<float*>(shared);  // [kStages][kStage]

  // The blocks of a cluster have the same tile and other segments. Tiles with the same pixels and other filters
  // are neighbours.
  const auto cluster = cooperative_groups::this_cluster();
  const int parts = by.parts.value;
  const int part = cluster.block_rank();
  const int tile = static_cast<int>(blockIdx.x) / by.parts;
  const int first_filter = tile % by.groups * kTile.filters;
  const int first_pixel = tile / by.groups * kTile.pixels;
  const int begin = order.segments * part / by.parts;
  const int end = order.segments * (part + 1) / by.parts;
  float* const of_parts = on_chip + kStages * kStage;
  const int most_rows = (kTile.filters - 1) / by.parts + 1;  // of a block
  std::uint64_t* const full =
      reinterpret_cast<std::uint64_t*>(of_parts + most_rows * parts * kTile.pixels);
  if (parts > 1) expect_parts<kTile.filters, kTile.pixels>(full, part, by);

  // A thread's filters are quads kRows quads apart, its pixels quads kColumns quads apart, so that the lanes
  // of a warp read neighbours. Which lane has which: neighbours have the same filters, and those two further
  // on the same pixels; then a read takes two passes through the banks, else up to four.
  constexpr int kWarpsDown = kTile.filters / (kRows * kTile.thread_filters);
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const int own_filter =
      warp % kWarpsDown * kRows * kTile.thread_filters + (lane / 2 % 2 + lane / 16 * 2) * 4;
  const int own_pixel =
      warp / kWarpsDown * kColumns * kTile.thread_pixels + (lane % 2 + lane / 4 % 4 * 2) * 4;

  using Source = std::conditional_t<kFew, TapSegments<kTile.filters, kTile.pixels, kThreads>,
                                    Segments<kTile.filters, kTile.pixels, kAtOnce, kThreads>>;
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
  float sums[kTile.thread_filters][kTile.thread_pixels] = {};
  if (bias != nullptr && part == 0) {
#pragma unroll
    for (int i = 0; i < kTile.thread_filters; ++i) {
      const int k = first_filter + own_filter + i / 4 * 4 * kRows + i % 4;
      const float own_bias = bias[min(k, layer.K - 1)];
#pragma unroll
      for (int j = 0; j < kTile.thread_pixels; ++j) sums[i][j] = own_bias;
    }
  }
  float filters[2][kTile.thread_filters];  // of one channel, and of the next
  float pixels[2][kTile.thread_pixels];
  int use = 0;                        // the stage that is multiplied
  int fill = (kStages - 1) * kStage;  // the one that nobody needs any more
  constexpr int kToPixels = kSegmentChannels * kTile.filters;
  read_quads<kRows>(on_chip + own_filter, filters[0]);
  read_quads<kColumns>(on_chip + kToPixels + own_pixel, pixels[0]);
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
        const float* next_filters = channels + row * kTile.filters;
        const float* next_pixels = channels + kToPixels + row * kTile.pixels;
        read_quads<kRows>(next_filters + own_filter, filters[(c + 1) % 2]);
        read_quads<kColumns>(next_pixels + own_pixel, pixels[(c + 1) % 2]);
      }
      // Back and forth: at the turns, too, a multiply-add then shares a factor with the one
      // before, and need not read it from the registers, of which it can read only two at once.
      // (12 x 8 per thread gained 14 %, smaller tiles, whose order nvcc finds itself, lost 1 %.)
#pragma unroll
      for (int j = 0; j < kTile.thread_pixels; ++j) {
#pragma unroll
        for (int step = 0; step < kTile.thread_filters; ++step) {
          const int i = kFew && j % 2 == 1 ? kTile.thread_filters - 1 - step : step;
          sums[i][j] += filters[c % 2][i] * pixels[c % 2][j];
        }
      }
    }
  }
  if (parts > 1) {
    send_and_add<kTile.filters, kTile.pixels, kRows, kColumns, kThreads>(
        sums, of_parts, full, part, output, relu, layer, by, first_filter, first_pixel, own_filter,
        own_pixel);
  } else if (layer.P * layer.Q % 4 == 0) {
    store_quads<kRows, kColumns>(sums, output, relu, layer, by, first_filter + own_filter,
                                 first_pixel + own_pixel);
  } else {
    store_rows<kTile.filters, kTile.pixels, kRows, kColumns, kThreads>(
        sums, on_chip, output, relu, layer, by, first_filter, first_pixel, own_filter, own_pixel);
  }
}

// Preconditions: a thread for each number of `packed`.
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed,  // [segments][kSegmentChannels][packed_row], and after
                            const LayerNumbers layer, const PackedFilters order) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int filter = layer.R * layer.S, taps = layer.C * filter;
  if (i >= order.floats) {
    const long long at = i - order.floats;
    if (at >= order.behind) return;
    // A quad of zeros; or for each tap what TapSegments reads, in the order (c, r, s). After
    // the last tap come some that do not exist: no row is so far down.
    const int tap = at / 4, r = tap % filter / layer.S, s = tap % layer.S;
    const int numbers[4] = {r, s, (tap / filter * layer.H + r) * layer.W + s, 0};
    const int of_none = at % 4 == 0 ? 1 << 30 : 0;
    const int number = tap < taps ? numbers[at % 4] : of_none;
    reinterpret_cast<int*>(packed)[i] = order.of_tap > 0 ? 0 : number;
    return;
  }
  const int k = i % order.row, position = i / order.row;
  int tap = position;
  bool counts = k < layer.K && tap < taps;
  if (order.of_tap > 0) {
    const int segment = position / kSegmentChannels % order.of_tap;
    const int first = min(segment * kSegmentChannels, layer.C - kSegmentChannels);
    const int c = first + position % kSegmentChannels;
    // A channel that the segment before has too is multiplied by zeros.
    counts = k < layer.K && c >= segment * kSegmentChannels;
    tap = c * filter + position / kSegmentChannels / order.of_tap;
  }
  packed[i] = counts ? filters[static_cast<long long>(k) * taps + tap] : 0.0f;
}

int register_tile_pack(const float* filters, float* packed, const LayerNumbers& layer) {
  const PackedFilters order = packed_filters(layer.C, layer.K, layer.R, layer.S);
  const long long numbers = order.floats + order.behind;
  constexpr int kPackThreads = 256;
  pack_kernel<<<(numbers - 1) / kPackThreads + 1, kPackThreads>>>(filters, packed, layer, order);
  return cudaGetLastError();
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
