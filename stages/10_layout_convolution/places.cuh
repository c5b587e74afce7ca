// Where cells and taps are: a layout of maps, and a tap's place in its filter.
#pragma once

#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::layout_convolution {

// A layout of maps: how many floats lie between a cell and the next image's, the next channel's, the
// next row's, the next column's. It is all that a kernel knows of the layout, so that the same machine
// code runs on both.
struct Layout {
  int n, c, h, w;

  __host__ __device__ int index(int image, int channel, int row, int column) const {
    return image * n + channel * c + row * h + column * w;
  }
};
// Of arrays [N][channels][rows][columns], or [channels][rows][columns][N].
inline Layout layout_of(bool chwn, int N, int channels, int rows, int columns) {
  if (chwn) return {1, rows * columns * N, columns * N, N};
  return {channels * rows * columns, rows * columns, columns, 1};
}

// Where tap t of a filter is, 0 <= t < C * R * S; beyond the last tap c >= C.
struct Tap {
  int c, r, s;
};

__device__ inline Tap tap_at(const LayerNumbers& layer, int t) {
  const int within = t % (layer.R * layer.S);
  return {t / (layer.R * layer.S), within / layer.S, within % layer.S};
}

// So many taps on: an addition with carries, which spares tap_at's divisions in the loop.
__device__ inline Tap advanced(const LayerNumbers& layer, Tap tap, Tap by) {
  tap.s += by.s;
  tap.r += by.r;
  tap.c += by.c;
  if (tap.s >= layer.S) {
    tap.s -= layer.S;
    ++tap.r;
  }
  if (tap.r >= layer.R) {
    tap.r -= layer.R;
    ++tap.c;
  }
  return tap;
}

}  // namespace halo::layout_convolution
