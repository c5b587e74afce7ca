// How segments of register_tile.cu come on chip, and how sums leave.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/cluster.cuh"
#include "common/convolve/register_tile/tile.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

// The filters of a block's segments: a thread copies the same four of every kStep-th row.
template <int kFilters, int kThreads>
struct FilterCopies {
  static constexpr int kRow = kFilters / 4;  // threads for the filters of a channel
  static constexpr int kRows = kThreads / kRow;
  // So many that they are a part of a segment's; with 16 or 96 filters some threads then have none.
  static constexpr int kStep = kRows >= kSegmentChannels ? kSegmentChannels : kRows >= 8 ? 8 : 4;
  static_assert(kRows >= kStep);

  const float* next;  // of the next segment

  __device__ FilterCopies(const float* packed, const PackedFilters& order, int first_filter,
                          int first_segment) {
    // Beyond the last filter others are copied: nobody stores what becomes of them.
    const int k = min(first_filter + static_cast<int>(threadIdx.x) % kRow * 4, order.row - 4);
    const int row = first_segment * kSegmentChannels + static_cast<int>(threadIdx.x) / kRow;
    next = packed + static_cast<long long>(row) * order.row + k;
  }

  // To [kSegmentChannels][kFilters] of shared memory: neighbours copy to neighbours, row after row.
  __device__ void copy_next(float* filters, const PackedFilters& order) {
#pragma unroll
    for (int j = 0; j < kSegmentChannels; j += kStep) {
      if (kRows > kStep && threadIdx.x >= kRow * kStep) break;
      const float* from = next + static_cast<long long>(j) * order.row;
      __pipeline_memcpy_async(filters + j * kFilters + threadIdx.x * 4, from, 16);
    }
    next += static_cast<long long>(kSegmentChannels) * order.row;
  }
};

// A pixel's image, and where its tap (0, 0) lies there. Beyond the last pixel it is another's: nobody stores what becomes
// of that.
struct FirstCell {
  int n, h, w;

  __device__ FirstCell(int pixel, const LayerNumbers& layer, const TileDivisors& by) {
    if (pixel >= layer.N * layer.P * layer.Q) pixel = 0;
    n = pixel / by.map;
    const int in_map = pixel % by.map;
    h = in_map / by.row * layer.stride_h - layer.padding_h;
    w = in_map % by.row * layer.stride_w - layer.padding_w;
  }
};

// A block's segments in the order (r, s, c), and the thread's share of the copies: always the same pixel (or four), of
// every kPixelStep-th channel. So where a tap's cell lies, and whether it exists, is asked once for a tap
// and not once for a copy.
template <int kFilters, int kPixels, int kAtOnce, int kThreads>
struct Segments {
  static constexpr int kPixelRow = kPixels / kAtOnce;  // threads for the pixels of a channel
  static constexpr int kPixelStep = kThreads / kPixelRow;
  static_assert(kSegmentChannels % kPixelStep == 0);

  FilterCopies<kFilters, kThreads> filters;
  const float* next_cell;  // of the next segment
  int channel;             // from next_cell to the same cell of the next channel, in floats
  int r, s, c;             // the next segment: its tap, its first channel
  FirstCell at;            // of the thread's pixel
  const float* image;      // it is in
  const float* zeros;      // what a ghost cell is read from

  __device__ Segments(const float* input, const float* packed, const LayerNumbers& layer,
                      const PackedFilters& order, const TileDivisors& by, int first_filter,
                      int first_pixel, int first_segment)
      : filters(packed, order, first_filter, first_segment),
        at(first_pixel + threadIdx.x % kPixelRow * kAtOnce, layer, by) {
    zeros = packed + order.floats;
    image = input + at.n * layer.C * layer.H * layer.W;
    const int tap = first_segment / by.of_tap;
    r = tap / by.filter_row;
    s = tap % by.filter_row;
    c = min(first_segment % by.of_tap * kSegmentChannels, layer.C - kSegmentChannels);
    find_cell(layer);
  }

  __device__ void find_cell(const LayerNumbers& layer) {
    const int h = at.h + r, w = at.w + s;
    const bool exists = h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    const int own_channel = c + threadIdx.x / kPixelRow;
    channel = exists ? layer.H * layer.W : 0;
    next_cell = exists ? image + (own_channel * layer.H + h) * layer.W + w : zeros;
  }

  // To [kSegmentChannels][kFilters], [kSegmentChannels][kPixels] of shared memory.
  __device__ void copy_next(float* stage, const float* /*taps*/, const LayerNumbers& layer,
                            const PackedFilters& order) {
    filters.copy_next(stage, order);
    float* pixels = stage + kSegmentChannels * kFilters + threadIdx.x * kAtOnce;
#pragma unroll
    for (int j = 0; j < kSegmentChannels; j += kPixelStep) {
      const float* from = next_cell + static_cast<long long>(j) * channel;
      __pipeline_memcpy_async(pixels + j * kPixels, from, 4 * kAtOnce);
    }
    const int next_c = min(c + kSegmentChannels, layer.C - kSegmentChannels);
    if (next_c > c) {
      next_cell += static_cast<long long>(next_c - c) * channel;
      c = next_c;
    } else {  // the next tap
      c = 0;
      if (++s == layer.S) {
        s = 0;
        ++r;
      }
      find_cell(layer);
    }
  }
};

// The same of a layer with fewer channels than a segment: all taps in the order (c, r, s), sixteen at a time. A
// segment of one tap would be filled up with zeros, with three channels thirteen of its sixteen rows. But each
// row is a tap of its own, so where its cell lies and whether it exists is asked sixteen times as often. So
// taps are not counted (26 instructions per row) but read from a table, by all threads at once. Each read
// from memory would be waited for; so the places of a segment's taps come on chip two segments before it.
template <int kFilters, int kPixels, int kThreads>
struct TapSegments {
  static_assert(kThreads == kPixels);  // one thread per pixel

  FilterCopies<kFilters, kThreads> filters;
  const float* places;  // of the next segment's taps, as pack_kernel leaves them
  FirstCell at;         // of the thread's pixel
  const float* input;   // [N][C][H][W]
  int cell;  // of input, for that tap in channel 0: where it would be, if it is a ghost cell

  __device__ TapSegments(const float* images, const float* packed, const LayerNumbers& layer,
                         const PackedFilters& order, const TileDivisors& by, int first_filter,
                         int first_pixel, int first_segment)
      : filters(packed, order, first_filter, first_segment),
        at(first_pixel + threadIdx.x, layer, by),
        input(images) {
    places = packed + order.floats + 1ll * first_segment * kTapNumbers;
    cell = (at.n * layer.C * layer.H + at.h) * layer.W + at.w;
  }

  // The places of the first segments' taps, to [kStages - 1][kTapNumbers] of shared memory.
  __device__ void copy_first_taps(float* taps) const {
    if (threadIdx.x >= (kStages - 1) * kSegmentChannels) return;
    __pipeline_memcpy_async(taps + 4 * threadIdx.x, places + 4 * threadIdx.x, 16);
  }

  // `taps`: the places of the segment's taps, on chip. To [kSegmentChannels][kFilters], [kSegmentChannels][kPixels] and
  // [kTapNumbers] of shared memory.
  __device__ void copy_next(float* stage, const float* taps, const LayerNumbers& layer,
                            const PackedFilters& order) {
    filters.copy_next(stage, order);
    float* pixels = stage + kSegmentChannels * kFilters + threadIdx.x;
    if (threadIdx.x < kSegmentChannels) {
      __pipeline_memcpy_async(stage + kSegmentChannels * (kFilters + kPixels) + 4 * threadIdx.x,
                              places + (kStages - 1) * kTapNumbers + 4 * threadIdx.x, 16);
    }
    // Four taps per turn, read before their cells are copied: nvcc moves no read across a copy.
    // All at once would need more registers than are left.
    constexpr int kTurn = 4;
#pragma unroll 1
    for (int j = 0; j < kSegmentChannels; j += kTurn) {
      int4 tap[kTurn];  // r, s, and how far its cell is from tap (0, 0) of channel 0
#pragma unroll
      for (int i = 0; i < kTurn; ++i) tap[i] = reinterpret_cast<const int4*>(taps)[j + i];
#pragma unroll
      for (int i = 0; i < kTurn; ++i) {
        // As unsigned numbers, of which those that would be negative are large. Where there is no cell nothing is read.
        const bool exists =
            static_cast<unsigned>(at.h + tap[i].x) < static_cast<unsigned>(layer.H) &&
            static_cast<unsigned>(at.w + tap[i].y) < static_cast<unsigned>(layer.W);
        copy_or_zero_async<4>(pixels + (j + i) * kPixels, input + (cell + tap[i].z), exists);
      }
    }
    places += kTapNumbers;
  }
};

// Every kLanes-th quad of shared memory, to registers.
__device__ inline void read_quad(const float* from, float* to) {
  const float4 quad = *reinterpret_cast<const float4*>(from);
  to[0] = quad.x;
  to[1] = quad.y;
  to[2] = quad.z;
  to[3] = quad.w;
}
template <int kLanes, int kCount>
__device__ inline void read_quads(const float* from, float (&to)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) read_quad(from + i * kLanes, to + i);
}

// With ReLU. (Not fmaxf, which turns a NaN into 0.)
__device__ inline float positive(float sum, bool relu) { return relu && sum < 0.0f ? 0.0f : sum; }

// A thread's sums from registers to the outputs. P * Q is a multiple of four: quads of outputs are aligned,
// and none has pixels of two images.
template <int kRows, int kColumns, int kSumFilters, int kSumPixels>
__device__ inline void store_quads(const float (&sums)[kSumFilters][kSumPixels], float* output,
                                   bool relu, const LayerNumbers& layer, const TileDivisors& by,
                                   int filter, int pixel) {
  const int map = layer.P * layer.Q;
#pragma unroll
  for (int j = 0; j < kSumPixels; j += 4) {
    const int at = pixel + j * kColumns;
    if (at >= layer.N * map) continue;
    float* maps = output + at / by.map * (layer.K - 1) * map + at;
#pragma unroll
    for (int i = 0; i < kSumFilters; ++i) {
      const int k = filter + i / 4 * 4 * kRows + i % 4;
      if (k >= layer.K) continue;
      *reinterpret_cast<float4*>(maps + k * map) =
          make_float4(positive(sums[i][j], relu), positive(sums[i][j + 1], relu),
                      positive(sums[i][j + 2], relu), positive(sums[i][j + 3], relu));
    }
  }
}

// From registers to shared memory, and from there to the outputs, so that the lanes of a warp store neighbours
// whatever P and Q are.
template <int kFilters, int kPixels, int kRows, int kColumns, int kThreads, int kSumFilters,
          int kSumPixels>
__device__ inline void store_rows(const float (&sums)[kSumFilters][kSumPixels], float* on_chip,
                                  float* output, bool relu, const LayerNumbers& layer,
                                  const TileDivisors& by, int first_filter, int first_pixel,
                                  int own_filter, int own_pixel) {
  constexpr int kPitch = kPixels + 4;  // the float4 of neighbouring rows are in other banks
#pragma unroll
  for (int i = 0; i < kSumFilters; ++i) {
    float* row = on_chip + (own_filter + i / 4 * 4 * kRows + i % 4) * kPitch + own_pixel;
#pragma unroll
    for (int j = 0; j < kSumPixels; j += 4) {
      *reinterpret_cast<float4*>(row + j * kColumns) =
          make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]);
    }
  }
  __syncthreads();
  const int map = layer.P * layer.Q;
  const int column = threadIdx.x % kPixels;
  const int pixel = first_pixel + column;
  if (pixel >= layer.N * map) return;
  float* maps = output + (pixel / by.map * (layer.K - 1) + first_filter) * map + pixel;
  const int end = min(kFilters, layer.K - first_filter);
#pragma unroll 8
  for (int row = threadIdx.x / kPixels; row < end; row += kThreads / kPixels) {
    maps[row * map] = positive(on_chip[row * kPitch + column], relu);
  }
}

// Before the first segment. The arrival says that the block has begun and its barrier is there, and no more: if it also
// published what was written before, it would hold the block up.
template <int kFilters, int kPixels>
__device__ inline void expect_parts(std::uint64_t* full, int part, const TileDivisors& by) {
  const int parts = by.parts.value;
  if (threadIdx.x == 0) {
    const int rows = kFilters * (part + 1) / by.parts - kFilters * part / by.parts;
    expect(full, sizeof(float) * rows * parts * kPixels);
  }
  __cluster_barrier_arrive_relaxed();
}

// The sums of a tile that a cluster shares: each block adds up some rows of it, and is sent them from registers by all, as
// soon as they have them. Nobody reads what is in another block: it would be two waits for the whole cluster, one for its
// sums and one to leave, and a read that goes there and back.
template <int kFilters, int kPixels, int kRows, int kColumns, int kThreads, int kSumFilters,
          int kSumPixels>
__device__ inline void send_and_add(const float (&sums)[kSumFilters][kSumPixels],
                                    float* of_parts,  // [rows][parts][kPixels]
                                    std::uint64_t* full, int part, float* output, bool relu,
                                    const LayerNumbers& layer, const TileDivisors& by,
                                    int first_filter, int first_pixel, int own_filter,
                                    int own_pixel) {
  const auto cluster = cooperative_groups::this_cluster();
  const int parts = by.parts.value;
  cluster.barrier_wait();  // all have begun: their shared memory is there
#pragma unroll
  for (int i = 0; i < kSumFilters; ++i) {
    const int row = own_filter + i / 4 * 4 * kRows + i % 4;
    const int owner = ((row + 1) * parts - 1) / kFilters;
    const int its_row = row - kFilters * owner / by.parts;
    float* const to =
        cluster.map_shared_rank(of_parts, owner) + (its_row * parts + part) * kPixels + own_pixel;
    std::uint64_t* const its_barrier = cluster.map_shared_rank(full, owner);
#pragma unroll
    for (int j = 0; j < kSumPixels; j += 4) {
      ptx::st_async(to + j * kColumns, {sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]},
                    its_barrier);
    }
  }
  wait_for_all(full);
  const int map = layer.P * layer.Q;
  const int column = threadIdx.x % kPixels;
  const int pixel = first_pixel + column;
  if (pixel >= layer.N * map) return;
  const int first = kFilters * part / by.parts;
  const int end = min(kFilters * (part + 1) / by.parts, layer.K - first_filter) - first;
  float* maps = output + (pixel / by.map * (layer.K - 1) + first_filter + first) * map + pixel;
#pragma unroll 4
  for (int row = threadIdx.x / kPixels; row < end; row += kThreads / kPixels) {
    float sum = 0;
#pragma unroll  // always in the same order
    for (int i = 0; i < kMostParts; ++i) {
      if (i < parts) sum += of_parts[(row * parts + i) * kPixels + column];
    }
    maps[row * map] = positive(sum, relu);
  }
}

}  // namespace halo::convolve
