// A layer through tensor cores, with float's accuracy.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero.
// How        the layer is a product of matrices, filters [K] times outputs [N*P*Q], whose sum goes over the taps
//            (r, s) and within each over the channels. Tensor cores multiply, which keep 10 bits of a factor after
//            the point (TF32): so each factor is split, big + small, and of the four products three are added:
//            big*big, big*small, small*big. Filters are split once, when they are packed, in the order of the lanes.
// Must cost  the input once for each group of 64 or 128 filters, and for each tap; the filters, twice as many
//            bytes as they were, once for each 128 outputs; each output written once, in whole rows. Three
//            products where one would do: a third of what tensor cores give in TF32.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/split_tf32/tile.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/kernel.h"
#include "common/harness/tf32.h"

namespace halo::convolve {

// What one instruction takes: 16 filters, 8 products of each sum.
constexpr int kFragmentFilters = 16;
constexpr int kDepth = 8;
constexpr int kFragmentFloats = kFragmentFilters * kDepth;
constexpr int kDepthsOfPiece = kPieceChannels / kDepth;

// A warp's share of a tile: 64 filters in four fragments, 32 outputs in four of 8.
constexpr int kFragments = 4;
constexpr int kWarpFilters = kFragmentFilters * kFragments;
constexpr int kWarpPixels = 8 * kFragments;

namespace {

__device__ __forceinline__ void multiply(float (&sums)[4], const float4& filters, uint32_t upper,
                                         uint32_t lower) {
  const uint32_t of_filters[] = {__float_as_uint(filters.x), __float_as_uint(filters.y),
                                 __float_as_uint(filters.z), __float_as_uint(filters.w)};
  const uint32_t of_pixels[] = {upper, lower};
  multiply_tf32(sums, of_filters, of_pixels);
}

// What a warp multiplies in one step of the sum: both parts of its filters, its pixels not yet split.
struct Operands {
  float4 big[kFragments], small[kFragments];
  float4 upper, lower;  // of rows t and t + 4: four neighbours, one for each fragment of pixels
};

// The small products first, so that they meet no large sum before they met each other. Each of the three goes
// through all 16 sums before the next: an instruction that waits for the one before takes five times as long.
__device__ __forceinline__ void multiply(float (&sums)[kFragments][kFragments][4],
                                         const Operands& of) {
  const Tf32Parts upper[] = {tf32_parts(of.upper.x), tf32_parts(of.upper.y), tf32_parts(of.upper.z),
                             tf32_parts(of.upper.w)};
  const Tf32Parts lower[] = {tf32_parts(of.lower.x), tf32_parts(of.lower.y), tf32_parts(of.lower.z),
                             tf32_parts(of.lower.w)};
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.small[i], upper[j].big, lower[j].big);
  }
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.big[i], upper[j].small, lower[j].small);
  }
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int j = 0; j < kFragments; ++j)
      multiply(sums[i][j], of.big[i], upper[j].big, lower[j].big);
  }
}

}  // namespace

constexpr int kSteps = kStagePieces * kDepthsOfPiece;
constexpr int kStagesOfSum = 2;  // 64 products: then the sums move on

// Preconditions: a plan of plan.hpp; gridDim.x = groups of kFilters * tiles of kTilePixels; blockDim.x = 2 * kFilters;
// split_shared_bytes(kFilters) bytes of dynamic shared memory.
// Two blocks per SM with 64 filters, one with 128: no thread then has to keep sums in memory.
template <int kFilters, int kAtOnce>
__global__ void __launch_bounds__(2 * kFilters, 128 / kFilters)
    split_tf32_kernel(const float* input,   // [N][C][H][W]
                      const float* packed,  // as split_filters_kernel leaves it
                      float* output,        // [N][K][P][Q]
                      const LayerNumbers layer) {
  constexpr int kThreads = 2 * kFilters;
  constexpr int kPieceFilters = 2 * kFilters * kPieceChannels;
  constexpr int kPieceFloats = kPieceFilters + kPieceChannels * kPixelRow;
  constexpr int kRows = kThreads * kAtOnce / kTilePixels;  // copied or stored at a time
  extern __shared__ float4
      on_chip[];  // [kStages * kStagePieces][kPieceFloats], then [kFilters][kOutputRow]
  float* const shared = reinterpret_cast<float*>(on_chip);
  const int lane = threadIdx.x % kWarpSize, g = lane / 4, t = lane % 4;
  const int warp = threadIdx.x / kWarpSize;
  const int warp_filter = warp / 4 * kWarpFilters, warp_pixel = warp % 4 * kWarpPixels;

  // Blocks with the same pixels and other filters are neighbours: the second finds the pixels in the L2 cache.
  const int groups = (layer.K - 1) / kFilters + 1;
  const int group = blockIdx.x % groups;
  // The pixels that the thread copies and the outputs that it stores are the same, kAtOnce neighbours.
  const int own_pixel = threadIdx.x * kAtOnce % kTilePixels;
  const int own_row = threadIdx.x * kAtOnce / kTilePixels;
  const int map = layer.P * layer.Q;
  const int m = blockIdx.x / groups * kTilePixels + own_pixel;
  const bool is_output = m < layer.N * map;
  const int n = is_output ? m / map : 0;
  const int in_map = is_output ? m % map : 0;
  const int top = in_map / layer.Q * layer.stride_h - layer.padding_h;
  const int left = in_map % layer.Q * layer.stride_w - layer.padding_w;

  const int channel = layer.H * layer.W;
  const int pieces_of_tap = (layer.C - 1) / kPieceChannels + 1;
  const int pieces = layer.R * layer.S * pieces_of_tap;
  const int stages = (pieces - 1) / kStagePieces + 1;
  const float* next_filters =
      packed + (static_cast<long long>(group) * pieces * kPieceFilters + threadIdx.x * 4);
  int next = 0, c = 0, r = 0, s = 0;  // the piece to be copied, its first channel and its tap

  // Of pieces after the last one there are zeros: a stage is always whole.
  const auto copy_piece = [&](int place) {
    float* const to = shared + place * kPieceFloats;
    const bool is_piece = next < pieces;
    for (int i = 0; i < kPieceFilters; i += kThreads * 4) {
      copy_or_zero_async<16>(to + i + threadIdx.x * 4, is_piece ? next_filters + i : packed,
                             is_piece);
    }
    // One tap's cell of this thread's outputs, in kRows-th channels: what changes is an offset.
    const int h = top + r, w = left + s;
    const bool is_cell = is_piece && is_output && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    const int rows = is_cell ? layer.C - c - own_row : 0;
    const float* const from =
        rows > 0 ? input + ((n * layer.C + c + own_row) * channel + h * layer.W + w) : input;
    float* const row = to + kPieceFilters + own_row * kPixelRow + own_pixel;
#pragma unroll
    for (int i = 0; i < kPieceChannels; i += kRows) {
      const bool exists = i < rows;  // else zeros
      copy_or_zero_async<4 * kAtOnce>(row + i * kPixelRow, exists ? from + i * channel : input,
                                      exists);
    }
    next += 1;
    next_filters += kPieceFilters;
    c += kPieceChannels;
    if (c >= layer.C) c = 0, s += 1;
    if (s == layer.S) s = 0, r += 1;
  };
  const auto copy_stage = [&](int stage) {
    for (int i = 0; i < kStagePieces; ++i) copy_piece(stage * kStagePieces + i);
    __pipeline_commit();
  };
  const auto operands_of = [&](int stage, int step) {
    const float* const piece =
        shared + (stage * kStagePieces + step / kDepthsOfPiece) * kPieceFloats;
    const float* const fragments = piece + warp_filter * 2 * kPieceChannels +
                                   step % kDepthsOfPiece * 2 * kFragmentFloats + lane * 4;
    const float* const pixels = piece + kPieceFilters +
                                (step % kDepthsOfPiece * kDepth + t) * kPixelRow + warp_pixel +
                                4 * g;
    Operands all;
#pragma unroll
    for (int i = 0; i < kFragments; ++i) {
      const float* const fragment = fragments + i * kFragmentFilters * 2 * kPieceChannels;
      all.big[i] = *reinterpret_cast<const float4*>(fragment);
      all.small[i] = *reinterpret_cast<const float4*>(fragment + kFragmentFloats);
    }
    all.upper = *reinterpret_cast<const float4*>(pixels);
    all.lower = *reinterpret_cast<const float4*>(pixels + 4 * kPixelRow);
    return all;
  };

  // Tensor cores truncate sums instead of rounding them, always towards zero: over thousands of products of one
  // sign that adds up (on an H200, in 4608 of them, to 14 times the error of a chain of fma). So every 64 products
  // the sums move on into others, by additions that round: then it is a quarter of that chain's, and 2 % slower.
  float sums[kFragments][kFragments][4] = {}, recent[kFragments][kFragments][4] = {};
  const auto move_on = [&] {
#pragma unroll
    for (int i = 0; i < kFragments * kFragments * 4; ++i) {
      sums[i / 16][i / 4 % 4][i % 4] += recent[i / 16][i / 4 % 4][i % 4];
      recent[i / 16][i / 4 % 4][i % 4] = 0.0f;
    }
  };
  for (int i = 0; i < kStages - 1; ++i) copy_stage(i);
  __pipeline_wait_prior(kStages - 2);
  __syncthreads();
  Operands now = operands_of(0, 0);
  for (int done = 0, stage = 0; done < stages; ++done) {
    copy_stage((stage + kStages - 1) % kStages);  // where the stage before was
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      if (step == kSteps - 1) {
        // The next stage is here. Of this one the last operands are in registers: nobody reads it any more.
        __pipeline_wait_prior(kStages - 2);
        __syncthreads();
        stage = (stage + 1) % kStages;
      }
      const Operands following = operands_of(stage, (step + 1) % kSteps);
      multiply(recent, now);
      now = following;
    }
    if (done % kStagesOfSum == kStagesOfSum - 1) move_on();
  }
  move_on();
  __pipeline_wait_prior(0);
  __syncthreads();

  // A warp's sums are pieces of 16 bytes of many filters' outputs. Through shared memory they become rows: stored
  // as they are, each request would write 4 bytes of each of 32 sectors where a map has no whole quads.
#pragma unroll
  for (int i = 0; i < kFragments; ++i) {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float* const to =
          shared + (warp_filter + 16 * i + e / 2 * 8 + g) * kOutputRow + warp_pixel + 8 * t;
      *reinterpret_cast<float4*>(to + e % 2 * 4) =
          make_float4(sums[i][0][e], sums[i][1][e], sums[i][2][e], sums[i][3][e]);
    }
  }
  __syncthreads();
  if (!is_output) return;
  float* const to = output + (n * layer.K * map + in_map);
#pragma unroll 8
  for (int row = own_row; row < kFilters; row += kRows) {
    const int k = group * kFilters + row;
    if (k >= layer.K) return;
    const float* const from = shared + row * kOutputRow + own_pixel;
    if constexpr (kAtOnce == 4) {
      *reinterpret_cast<float4*>(to + k * map) = *reinterpret_cast<const float4*>(from);
    } else {
      to[k * map] = *from;
    }
  }
}

// packed[group][piece][fragment][step of 8 channels][big, small][lane][4], zeros where there is no filter or
// channel: what a block copies of a piece is one run, and what a lane loads of a fragment is 16 bytes.
// Preconditions: a thread for each two floats of packed; `group` filters a block, 64 or 128.
__global__ void split_filters_kernel(const float* filters,  // [K][C][R][S]
                                     float* packed, const LayerNumbers layer, const int group) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int e = i % 4;  // of a lane's four: rows g and g + 8 of column t, then of column t + 4
  const int lane = i / 4 % kWarpSize;
  const int step = i / kFragmentFloats % kDepthsOfPiece;
  const int fragment = i / (kFragmentFilters * kPieceChannels) % (group / kFragmentFilters);
  const int piece = i / (group * kPieceChannels);  // of all groups
  const int pieces_of_tap = (layer.C - 1) / kPieceChannels + 1;
  const int taps = layer.R * layer.S;
  const int tap = piece / pieces_of_tap % taps;

  const int k =
      piece / pieces_of_tap / taps * group + fragment * kFragmentFilters + lane / 4 + e % 2 * 8;
  const int c = piece % pieces_of_tap * kPieceChannels + step * kDepth + lane % 4 + e / 2 * 4;
  const bool exists = k < layer.K && c < layer.C;
  const Tf32Parts parts = tf32_parts(exists ? filters[(k * layer.C + c) * taps + tap] : 0.0f);
  float* const to = packed + (i / kFragmentFloats * 2 * kFragmentFloats + i % kFragmentFloats);
  to[0] = __uint_as_float(parts.big);
  to[kFragmentFloats] = __uint_as_float(parts.small);
}

int split_filters(const float* filters, float* packed, const LayerNumbers& layer,
                  const SplitTile& tile) {
  constexpr int kThreads = 256;
  const int groups = (layer.K - 1) / tile.filters + 1;
  const int pieces = layer.R * layer.S * ((layer.C - 1) / kPieceChannels + 1);
  const int blocks = groups * pieces * (tile.filters * kPieceChannels / kThreads);
  split_filters_kernel<<<blocks, kThreads>>>(filters, packed, layer, tile.filters);
  return cudaGetLastError();
}

int split_tf32(const LayerCall& call, const SplitTile& tile) {
  const LayerNumbers& layer = call.layer;
  const auto kernel = dispatch<64, 128>(tile.filters, [&](auto filters) {
    return dispatch<1, 4>(tile.at_once, [](auto at_once) {
      return split_tf32_kernel<decltype(filters)::value, decltype(at_once)::value>;
    });
  });
  const int bytes = split_shared_bytes(tile.filters);
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  const int tiles = (layer.N * layer.P * layer.Q - 1) / kTilePixels + 1;
  const int groups = (layer.K - 1) / tile.filters + 1;
  kernel<<<tiles * groups, 2 * tile.filters, bytes, static_cast<cudaStream_t>(call.stream)>>>(
      call.input, call.packed, call.output, layer);
  return cudaGetLastError();
}

}  // namespace halo::convolve
