// How segments of register_tile.cu come on chip: filters, and cells of layers with many channels.
//
//   a segment on chip    [kSegmentChannels][kFilters] filters, then [kSegmentChannels][kPixels] cells
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/register_tile/shape.cuh"

namespace halo::convolve {

// The filters of a block's segments: a thread copies the same four of every kStep-th row.
template <class T>
struct FilterCopies {
  static constexpr int kRow = T::kFilters / 4;  // threads for the filters of a channel
  static constexpr int kRows = T::kThreads / kRow;
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
      __pipeline_memcpy_async(filters + j * T::kFilters + threadIdx.x * 4, from, 16);
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
template <class T, int kAtOnce>
struct Segments {
  static constexpr int kPixelRow = T::kPixels / kAtOnce;  // threads for the pixels of a channel
  static constexpr int kPixelStep = T::kThreads / kPixelRow;
  static_assert(kSegmentChannels % kPixelStep == 0);

  FilterCopies<T> filters;
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
    float* pixels = stage + kSegmentChannels * T::kFilters + threadIdx.x * kAtOnce;
#pragma unroll
    for (int j = 0; j < kSegmentChannels; j += kPixelStep) {
      const float* from = next_cell + static_cast<long long>(j) * channel;
      __pipeline_memcpy_async(pixels + j * T::kPixels, from, 4 * kAtOnce);
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
}  // namespace halo::convolve
