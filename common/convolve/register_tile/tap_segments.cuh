// How segments of register_tile.cu come on chip where channels are few.
#pragma once

#include "common/convolve/register_tile/segments.cuh"
#include "common/harness/async_copy.h"

namespace halo::convolve {

// A block's segments of a layer with fewer channels than that: all taps in the order (c, r, s), sixteen at a time. A
// segment of one tap would be filled up with zeros, with three channels thirteen of its sixteen rows. But each
// row is a tap of its own, so where its cell lies and whether it exists is asked sixteen times as often. So
// taps are not counted (26 instructions per row) but read from a table, by all threads at once. Each read
// from memory would be waited for; so the places of a segment's taps come on chip two segments before it.
template <class T>
struct TapSegments {
  static_assert(T::kThreads == T::kPixels);  // one thread per pixel

  FilterCopies<T> filters;
  const float* places;  // of the next segment's taps, as register_tile_pack leaves them
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
    float* pixels = stage + kSegmentChannels * T::kFilters + threadIdx.x;
    if (threadIdx.x < kSegmentChannels) {
      __pipeline_memcpy_async(
          stage + kSegmentChannels * (T::kFilters + T::kPixels) + 4 * threadIdx.x,
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
        copy_or_zero_async<4>(pixels + (j + i) * T::kPixels, input + (cell + tap[i].z), exists);
      }
    }
    places += kTapNumbers;
  }
};
}  // namespace halo::convolve
