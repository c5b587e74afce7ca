// How a warpgroup copies the pixels of a piece to shared memory: rows of a channel, in the order of the tile's outputs.
#pragma once

#include <cstdint>

#include "common/convolve/warpgroup/tile.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/kernel.h"
#include "common/harness/warpgroup.h"

namespace halo::convolve {

template <int kPixels>
using PixelRow = float[pixel_row(kPixels)];

// The outputs of a tile that are of one image, the `index`-th that it has some of: where 1 x 1 filters do not move, a
// run of the pixels of each channel. On chip it begins `shift` cells after the row's cell `at`, where a quad begins.
template <int kPixels>
struct Run {
  int image, first, length, at;
  __device__ Run(int tile_pixel, const Divisor& of_map, int index) {
    const int map = of_map.value, before = tile_pixel % of_map;
    const int of_first = min(map - before, kPixels);
    image = tile_pixel / of_map + index;
    first = index == 0 ? before : 0;
    length = index == 0 ? of_first : min(map, kPixels - of_first - (index - 1) * map);
    at = index == 0 ? 0 : room(of_first, map) + (index - 1) * room(map, map);
  }
  // Where maps are whole quads, all begin with one: else up to 3 cells after one, and end as far before one does.
  __device__ static int room(int length, int map) {
    return (length + 6 - 3 * (map % 4 == 0)) / 4 * 4;
  }
  // The same for every fourth channel.
  __device__ int shift(int C, int c, const Divisor& map) const {
    return (static_cast<unsigned>(image * C + c) * map.value + first) % 4;
  }
};

// In runs: a warp copies every fourth row, a lane one quad of it, and where the runs have more than 32, some lanes two.
template <int kPixels>
struct RunPixels {
  static constexpr int kChannels = channels_of(WarpgroupPixelsBy::quads);
  static constexpr int kEvery = 4;  // row, as many as there are warps
  static constexpr int kRow = pixel_row(kPixels), kQuads = kRow / 4;
  static constexpr int kOwn = (kQuads + kWarpSize - 1) / kWarpSize;
  const float* const input;
  const LayerNumbers& layer;
  const Divisor& map;
  const int row, lane;
  int c = 0;       // the piece's first channel
  int from[kOwn];  // cells of the input for channel `row`, or -1

  __device__ RunPixels(const float* input, const LayerNumbers& layer, const Divisor& map,
                       int thread)
      : input(input), layer(layer), map(map), row(thread / kWarpSize), lane(thread % kWarpSize) {}

  // Where the tile's output `pixel` is in row t, t + 4, ...
  __device__ static int column(const LayerNumbers& layer, const Divisor& map, int tile_pixel,
                               int pixel, int t) {
    // After the last output there is nothing: the tile's first is read instead.
    const int m = tile_pixel + pixel < layer.N * map.value ? tile_pixel + pixel : tile_pixel;
    const Run<kPixels> run(tile_pixel, map, m / map - tile_pixel / map);
    return run.at + run.shift(layer.C, t, map) + m % map - run.first;
  }
  __device__ void begin_tile(int tile_pixel) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int cell = (i * kWarpSize + lane) * 4;
      from[i] = -1;
#pragma unroll 1
      for (int index = 0; index < kWarpgroupRuns; ++index) {
        const Run<kPixels> run(tile_pixel, map, index);
        const int in_run = cell - run.at - run.shift(layer.C, row, map);
        if (run.length <= 0 || run.image >= layer.N) break;
        if (cell < run.at || in_run >= run.length) continue;
        from[i] = (run.image * layer.C + row) * map.value + run.first + in_run;
      }
    }
  }
  __device__ void find(int, int first_channel, int, int) { c = first_channel; }
  __device__ void copy(PixelRow<kPixels>* pixels) {
    const unsigned channel = map.value;  // unsigned: its multiples are one instruction
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const bool exists = from[i] >= 0;
      if (i > 0 && !__any_sync(~0u, exists)) return;
      if (i * kWarpSize + lane >= kQuads) return;
      const float* const cell = exists ? input + (from[i] + c * channel) : input;
      float* const to = &pixels[row][(i * kWarpSize + lane) * 4];
      // Nearly always all channels exist: then nothing is asked or chosen for each copy.
      if (c + kWarpgroupChannels <= layer.C) {
#pragma unroll
        for (int j = 0; j < kWarpgroupChannels; j += kEvery) {
          copy_or_zero_async<16>(to + j * kRow, cell + std::uint64_t{channel} * j, exists);
        }
        continue;
      }
#pragma unroll 1
      for (int j = 0; j < kWarpgroupChannels; j += kEvery) {
        const bool is_there = exists && c + row + j < layer.C;
        copy_or_zero_async<16>(to + j * kRow, is_there ? cell + channel * j : input, is_there);
      }
    }
  }
};

// The same where an image is a matrix of a transform: it has filters of its own, which the launch before this one leaves, and
// a tile's pixels are one run.
template <int kPixels>
struct MatrixPixels : RunPixels<kPixels> {
  using Own = RunPixels<kPixels>;
  using Own::lane, Own::layer, Own::map, Own::row;

  using Own::Own;

  __device__ static int column(const LayerNumbers&, const Divisor&, int, int pixel, int) {
    return pixel;
  }
  __device__ void begin_tile(int tile_pixel) {
    const int first = (tile_pixel / map * layer.C + row) * map.value + tile_pixel % map;
#pragma unroll
    for (int i = 0; i < Own::kOwn; ++i) {
      const int pixel = (i * kWarpSize + lane) * 4;
      Own::from[i] = pixel < kPixels ? first + pixel : -1;
    }
  }
};

// A thread's own pixel, and where its window begins. Of few pixels two threads have each.
template <int kPixels>
struct OwnPixel {
  const float* const input;
  const LayerNumbers& layer;
  const Divisor& map;
  const int pixel, turn;
  int image, top, left;

  __device__ OwnPixel(const float* input, const LayerNumbers& layer, const Divisor& map, int thread)
      : input(input),
        layer(layer),
        map(map),
        pixel(kPixels < kWarpgroup ? thread % kPixels : thread),
        turn(kPixels < kWarpgroup ? thread / kPixels : 0) {}

  __device__ static int column(const LayerNumbers&, const Divisor&, int, int pixel, int) {
    return pixel;
  }
  __device__ void begin_tile(int tile_pixel) {
    const int m = tile_pixel + pixel, in_map = m % map;
    image = m / map;
    top = in_map / layer.Q * layer.stride_h - layer.padding_h;
    left = in_map % layer.Q * layer.stride_w - layer.padding_w;
  }
};

// One by one: a thread copies one pixel, whose cell under each tap may be anywhere, of all channels, or two threads by turns.
// A piece is of one tap or of two.
template <WarpgroupPixelsBy kBy, int kPixels>
struct SinglePixels : OwnPixel<kPixels> {
  static constexpr int kChannels = channels_of(kBy);
  static constexpr int kTogether = kWarpgroupChannels / kChannels;
  static constexpr int kTurns = kWarpgroup / kPixels;
  using Own = OwnPixel<kPixels>;
  using Own::image, Own::input, Own::layer, Own::pixel, Own::turn;
  int first_channel[kTogether];
  const float* cell[kTogether];  // of the first channel
  bool exists[kTogether];

  using Own::Own;
  __device__ void find(int own, int c, int r, int s) {
    const int h = Own::top + r, w = Own::left + s;
    first_channel[own] = c;
    exists[own] = image < layer.N && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
    cell[own] = exists[own] ? input + (((image * layer.C + c) * layer.H + h) * layer.W + w) : input;
  }
  __device__ void copy(PixelRow<kPixels>* pixels) {
#pragma unroll
    for (int own = 0; own < kTogether; ++own) copy_tap(pixels + own * kChannels, own);
  }
  __device__ void copy_tap(PixelRow<kPixels>* pixels, int own) {
    const unsigned channel = layer.H * layer.W;
    const int c = first_channel[own] + turn;
    const float* const first = exists[own] ? cell[own] + std::uint64_t{channel} * turn : input;
    if (first_channel[own] + kChannels <= layer.C) {
#pragma unroll
      for (int i = 0; i < kChannels; i += kTurns) {
        copy_or_zero_async<4>(&pixels[turn + i][pixel], first + std::uint64_t{channel} * i,
                              exists[own]);
      }
      return;
    }
#pragma unroll 8
    for (int i = 0; i < kChannels; i += kTurns) {
      const bool is_there = exists[own] && c + i < layer.C;
      copy_or_zero_async<4>(&pixels[turn + i][pixel], is_there ? first + i * channel : input,
                            is_there);
    }
  }
};

// Where channels are few a piece has 32 products of whichever taps and channels follow each other: a thread copies its
// pixel's cell of each.
struct TapPixels : OwnPixel<kWarpgroupPixels> {
  static constexpr int kChannels = channels_of(WarpgroupPixelsBy::taps);
  int first_c, first_r, first_s;  // of the piece

  using OwnPixel::OwnPixel;
  __device__ void find(int own, int c, int r, int s) {
    if (own == 0) first_c = c, first_r = r, first_s = s;
  }
  // (Without asking where the whole window exists, and eight at a time, 7 x 7 filters took a tenth longer and 11 x 11 ones 6 %
  // less.)
  __device__ void copy(PixelRow<kWarpgroupPixels>* pixels) {
    const int channels = image < layer.N ? layer.C : 0;
    int c = first_c, r = first_r, s = first_s;
    // Unsigned: where there is no cell it may be anything.
    unsigned at = ((image * layer.C + c) * layer.H + top + r) * layer.W + left + s;
#pragma unroll 4
    for (int i = 0; i < kWarpgroupChannels; ++i) {
      const int h = top + r, w = left + s;
      const bool exists = c < channels && h >= 0 && h < layer.H && w >= 0 && w < layer.W;
      copy_or_zero_async<4>(&pixels[i][pixel], exists ? input + at : input, exists);
      ++s, ++at;
      if (s == layer.S) s = 0, ++r, at += layer.W - layer.S;
      if (r == layer.R) r = 0, ++c, at += (layer.H - layer.R) * layer.W;
    }
  }
};

}  // namespace halo::convolve
