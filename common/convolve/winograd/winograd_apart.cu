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
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/winograd/winograd.cuh"
#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

constexpr int kThreads = 128;  // of a block that transforms: a tile each

// Preconditions: gridDim.x = blocks of tiles * division.channels; kStrided unless strides are 1; division.tile_pitch a
// multiple of 4. Neighbouring threads have neighbouring tiles, whose patches overlap: they read the same cells.
template <int kShape, bool kStrided>
__global__ void __launch_bounds__(kThreads)
    transform_inputs_kernel(const float* input,  // [images][C][H][W]
                            float* transformed,  // [kFrequencies][channels][tile_pitch]
                            LayerNumbers layer, ApartDivision division, int images,
                            Divisor blocks) {  // of tiles
  using W = Apart<kShape>;
  const int channel = static_cast<int>(blockIdx.x) / blocks;  // of a phase
  const int tile = (blockIdx.x - channel * blocks.value) * kThreads + threadIdx.x;
  wait_for_launches_before();
  if (tile >= division.tile_pitch) return;
  const ApartPatch<W, kStrided> at(layer, division, channel, tile);
  const float* cells = input + (static_cast<long long>(at.n) * layer.C + at.c) * layer.H * layer.W;

  // Tiles that fill up the last piece are zeros, as ghost cells are.
  float patch[W::kCells][W::kCells];
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) {
#pragma unroll
    for (int j = 0; j < W::kCells; ++j) {
      const int h = at.h + i * at.down, w = at.w + j * at.across;
      const bool exists = at.n < images && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      patch[i][j] = exists ? cells[h * layer.W + w] : 0.0f;
    }
  }
#pragma unroll
  for (int i = 0; i < W::kCells; ++i) transform_line(patch[i]);
  float* const to = transformed + channel * division.tile_pitch + tile;
  const int frequency = division.channels * division.tile_pitch;  // from one to the next
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = patch[i][j];
    transform_line(column);
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) to[(i * W::kCells + j) * frequency] = column[i];
  }
  // The products may begin, and not before: their blocks go where there is room, and while others still transform
  // that is two here and none there. (Called first, at one image it made some layers take twice as long.)
  let_next_launch_begin();
}

// For each frequency and each group of the layer the matrix [K][C] times [C][tiles], K and C a group's, C the channels
// of all phases. Preconditions: blockDim.x = the block's threads; gridDim.x = pieces of filters * pieces of tiles,
// gridDim.y = frequencies * groups; both pitches multiples of 4, so that no piece of 16 bytes is half in one row.
template <int kBlock>
__global__ void __launch_bounds__(kApartBlocks[kBlock].threads(), kApartBlocks[kBlock].resident())
    products_kernel(const float* packed,       // [frequencies][groups][C][filter_pitch]
                    const float* transformed,  // [frequencies][groups][C][tile_pitch]
                    float* sums,               // [frequencies][groups][K][tile_pitch]
                    int C, int K, ApartDivision division, Divisor pieces) {  // of filters
  constexpr ApartBlock kIs = kApartBlocks[kBlock];
  constexpr int kFilters = kIs.filters, kTiles = kIs.tiles, kChannels = kApartChannels;
  constexpr int kRows = kIs.rows, kColumns = kIs.columns;
  constexpr int kProductThreads = kFilters * kTiles / (kRows * kColumns);
  extern __shared__ float4 on_chip[];
  float* const weights = reinterpret_cast<float*>(on_chip);  // [2][kChannels][kFilters]
  float* const tiles = weights + 2 * kChannels * kFilters;   // [2][kChannels][kTiles]

  // Blocks with the same tiles are neighbours: what one reads of them the others find in the L2 cache.
  const int piece_of_tiles = static_cast<int>(blockIdx.x) / pieces;
  const int first_filter = (blockIdx.x - piece_of_tiles * pieces.value) * kFilters;
  const int first_tile = piece_of_tiles * kTiles;
  const float* const a = packed + static_cast<long long>(blockIdx.y) * C * division.filter_pitch;
  const float* const b = transformed + static_cast<long long>(blockIdx.y) * C * division.tile_pitch;
  const int thread = threadIdx.x, lane = thread % kWarpSize, warp = thread / kWarpSize;

  // A thread copies one column of every kFilterStep-th and kTileStep-th row, from here on. Where its column does not
  // exist it has no channels, and of rows that do not exist the zeros come without a read.
  // (Computing each address again cost a tenth of the kernel's time.)
  constexpr int kFilterRow = kFilters / 4, kTileRow = kTiles / 4;  // pieces of 16 bytes
  constexpr int kFilterStep = kProductThreads / kFilterRow, kTileStep = kProductThreads / kTileRow;
  const int filter_row = thread / kFilterRow, filter = first_filter + thread % kFilterRow * 4;
  const int tile_row = thread / kTileRow, tile = first_tile + thread % kTileRow * 4;
  const float* next_filters = a + filter_row * division.filter_pitch + filter;
  const float* next_tiles = b + tile_row * division.tile_pitch + tile;
  int filter_rows = filter < division.filter_pitch ? C - filter_row : 0;
  int tile_rows = tile < division.tile_pitch ? C - tile_row : 0;
  const auto copy_filters = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kFilterStep) {
      const bool exists = i < filter_rows;
      copy_or_zero_async<16>(weights + (buffer * kChannels + i) * kFilters + 4 * thread,
                             exists ? next_filters + i * division.filter_pitch : a, exists);
    }
    next_filters += kChannels * division.filter_pitch;
    filter_rows -= kChannels;
  };
  const auto copy_tiles = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kTileStep) {
      const bool exists = i < tile_rows;
      copy_or_zero_async<16>(tiles + (buffer * kChannels + i) * kTiles + 4 * thread,
                             exists ? next_tiles + i * division.tile_pitch : b, exists);
    }
    next_tiles += kChannels * division.tile_pitch;
    tile_rows -= kChannels;
  };

  // Of a warp's lanes 4 have filters and 8 have tiles beside each other (the other way round where a block has few
  // tiles), in runs of four, one or two. Of eight neighbouring lanes only four (two) read different tiles (filters): a
  // float4 for all lanes then takes two passes, and four if all differ.
  const int many = lane % 2 + lane / 4 % 4 * 2, few = lane / 2 % 2 + lane / 16 * 2;
  constexpr bool kManyTiles = kTiles >= 32;
  // From a lane's first run to its second.
  constexpr int kFilterRun = 4 * (kManyTiles ? 4 : 8), kTileRun = 4 * (kManyTiles ? 8 : 4);
  constexpr int kAcross = kTiles / (kColumns / 4 * kTileRun);  // warps beside each other
  const int own_filter = warp / kAcross * (kRows / 4 * kFilterRun) + 4 * (kManyTiles ? few : many);
  const int own_tile = warp % kAcross * (kColumns / 4 * kTileRun) + 4 * (kManyTiles ? many : few);

  float own[kRows][kColumns] = {};
  const int chunks = (C - 1) / kChannels + 1;
  // The first filters depend on no launch: they are under way while the inputs are still transformed.
  copy_filters(0);
  let_next_launch_begin();  // many small blocks do the adding: they find room anywhere
  wait_for_launches_before();
  copy_tiles(0);
  __pipeline_commit();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the chunk is there, and nobody reads the one before any more
    if (chunk + 1 < chunks) {
      copy_filters((chunk + 1) % 2);
      copy_tiles((chunk + 1) % 2);
    }
    __pipeline_commit();
    const float* const from_weights = weights + chunk % 2 * kChannels * kFilters + own_filter;
    const float* const from_tiles = tiles + chunk % 2 * kChannels * kTiles + own_tile;
    // What a lane multiplies next is read while it multiplies: in turns, so that no read is waited for.
    float filter[2][kRows], tile[2][kColumns];
    const auto read = [&](int c, int turn) {
#pragma unroll
      for (int i = 0; i < kRows; i += 4) {
        *reinterpret_cast<float4*>(filter[turn % 2] + i) =
            *reinterpret_cast<const float4*>(from_weights + c * kFilters + i / 4 * kFilterRun);
      }
#pragma unroll
      for (int i = 0; i < kColumns; i += 4) {
        *reinterpret_cast<float4*>(tile[turn % 2] + i) =
            *reinterpret_cast<const float4*>(from_tiles + c * kTiles + i / 4 * kTileRun);
      }
    };
    read(0, 0);
    // Eight channels without a branch: the code of all 32 would not fit the instruction cache.
#pragma unroll 1
    for (int first = 0; first < kChannels; first += 8) {
#pragma unroll
      for (int c = 0; c < 8; ++c) {
        if (first + c + 1 < kChannels) read(first + c + 1, c + 1);
          // Back and forth: then a multiply-add shares a factor with the one before at the turns,
          // too, and need not read it from the registers, of which it can read only two at once.
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
#pragma unroll
          for (int step = 0; step < kColumns; ++step) {
            const int j = i % 2 == 0 ? step : kColumns - 1 - step;
            own[i][j] += filter[c % 2][i] * tile[c % 2][j];
          }
        }
      }
    }
  }

  float* const to = sums + static_cast<long long>(blockIdx.y) * K * division.tile_pitch;
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int k = first_filter + own_filter + i % 4 + i / 4 * kFilterRun;
#pragma unroll
    for (int j = 0; j < kColumns; j += 4) {
      const int t = first_tile + own_tile + j / 4 * kTileRun;
      if (k < K && t < division.tile_pitch) {
        *reinterpret_cast<float4*>(to + k * division.tile_pitch + t) =
            *reinterpret_cast<const float4*>(&own[i][j]);
      }
    }
  }
}

// Preconditions: gridDim.x = blocks of tiles * K. Piece is kOutputs floats where they are 4 or 2 and Q is a multiple of
// them, so that a row of a tile is one piece of memory, else a float.
template <int kShape, class Piece>
__global__ void __launch_bounds__(kThreads)
    transform_sums_kernel(const float* sums,  // [kFrequencies][K][tile_pitch]
                          float* output,      // [images][K][P][Q]
                          const float* bias,  // [K], or null
                          bool relu, LayerNumbers layer, ApartDivision division, int images,
                          Divisor blocks) {  // of tiles
  using W = Apart<kShape>;
  const int k = static_cast<int>(blockIdx.x) / blocks;
  const int tile = (blockIdx.x - k * blocks.value) * kThreads + threadIdx.x;
  const int line = tile / division.tiles_across, n = line / division.tiles_down;
  const int p = line % division.tiles_down * W::kOutputs;
  const int q = tile % division.tiles_across * W::kOutputs;
  wait_for_launches_before();
  if (n >= images) return;

  const float* const from = sums + k * division.tile_pitch + tile;
  const int frequency = layer.K * division.tile_pitch;  // from one to the next
  float half[W::kOutputs][W::kCells], y[W::kOutputs];
#pragma unroll
  for (int j = 0; j < W::kCells; ++j) {
    float column[W::kCells];
#pragma unroll
    for (int i = 0; i < W::kCells; ++i) column[i] = from[(i * W::kCells + j) * frequency];
    transform_sums<W>(column, y);
#pragma unroll
    for (int i = 0; i < W::kOutputs; ++i) half[i][j] = y[i];
  }
  const float its_bias = bias != nullptr ? bias[k] : 0.0f;
  float* const to =
      output + ((static_cast<long long>(n) * layer.K + k) * layer.P + p) * layer.Q + q;
#pragma unroll
  for (int i = 0; i < W::kOutputs; ++i) {
    if (p + i >= layer.P) continue;
    alignas(16) float row[W::kOutputs];
    transform_sums<W>(half[i], row);
#pragma unroll
    for (int j = 0; j < W::kOutputs; ++j) {
      row[j] += its_bias;
      if (relu && row[j] < 0.0f) row[j] = 0.0f;  // not fmaxf, which turns a NaN into 0
    }
    constexpr int kPiece = sizeof(Piece) / sizeof(float);
#pragma unroll
    for (int j = 0; j < W::kOutputs; j += kPiece) {
      if (q + j < layer.Q) {
        *reinterpret_cast<Piece*>(to + i * layer.Q + j) = *reinterpret_cast<const Piece*>(row + j);
      }
    }
  }
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
