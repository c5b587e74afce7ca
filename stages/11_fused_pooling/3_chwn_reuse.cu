// Stage 11, step 3: pooling in CHWN, several neighbouring outputs per thread.
//
// Computes   each output as the largest or the average cell of its window, of images that lie in the
//            order [C][H][W][N]; ghost cells take no part.
// Changed    since 2 chwn: a thread has kRows x kColumns outputs, whose windows overlap. It reads the
//            cells under all of them once, and joins each from its register to every output whose
//            window it is in. Li et al. (SC'16) call it expanding the working set of a thread.
// Must cost  of the R*S requests that step 2 makes for an output, along each axis with an expansion e
//            the share ((e - 1) * stride + R) / (e * R): with 2 x 2 outputs, windows of 3 and stride 2,
//            25 requests for four outputs instead of 36. And a quarter of the threads, each with four
//            results in registers.
// Run        ./halo run 11 --variant chwn_reuse
// Over 120 lines: a tile is read, joined and written in one place.
#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"

namespace halo::fused_pooling {

constexpr int kImages = kWarpSize;  // of a warp, as in step 2
constexpr int kChannels = 4;        // of a block

// Outputs [first_p][first_q] and its neighbours, kRows x kColumns, as far as they exist, of one channel
// of one image. kWindow is that of R = S = kWindow and strides 2, or 0 for any other layer. `inside`: all
// these outputs exist, and none of their windows reaches beyond an edge. The function becomes a part of
// its callers, so that the compiler knows what they say of `average` and `inside`.
//
// Each cell is read once, into a register, and joins every output whose window it is in. Which those
// are is known to the compiler where it knows the window: it unrolls all loops, the conditions on r
// and s are gone, and loads need not wait for one another. Where it does not, the results still are
// registers, since the loops over them are unrolled.
template <int kWindow, int kRows, int kColumns>
__device__ __forceinline__ void pool_tile(const float* cells,  // [H][W], N apart
                                          float* outputs,      // [P][Q], N apart
                                          const LayerNumbers& layer, bool average, bool inside,
                                          int first_p, int first_q) {
  const int R = kWindow > 0 ? kWindow : layer.R, stride_h = kWindow > 0 ? 2 : layer.stride_h;
  const int S = kWindow > 0 ? kWindow : layer.S, stride_w = kWindow > 0 ? 2 : layer.stride_w;
  const int rows = inside ? kRows : min(kRows, layer.P - first_p);
  const int columns = inside ? kColumns : min(kColumns, layer.Q - first_q);
  // The cells under them: the corner, which may be in the padding, and where the existing ones end.
  const int first_h = first_p * stride_h - layer.padding_h;
  const int first_w = first_q * stride_w - layer.padding_w;
  const int end_h = min(first_h + (rows - 1) * stride_h + R, layer.H);
  const int end_w = min(first_w + (columns - 1) * stride_w + S, layer.W);
  const int tile_rows = ((kWindow > 0 ? kRows : rows) - 1) * stride_h + R;
  const int tile_columns = ((kWindow > 0 ? kColumns : columns) - 1) * stride_w + S;
  const int row = layer.W * layer.N;  // from a cell to the one below

  float results[kRows][kColumns];
#pragma unroll
  for (int i = 0; i < kRows * kColumns; ++i) {
    results[i / kColumns][i % kColumns] = average ? 0.0f : -INFINITY;
  }
#pragma unroll
  for (int i = 0; i < tile_rows; ++i) {
    const int h = first_h + i;
    const bool has_row = inside || (h >= 0 && h < end_h);
#pragma unroll
    for (int j = 0; j < tile_columns; ++j) {
      const int w = first_w + j;
      const bool needed = has_row && (inside || (w >= 0 && w < end_w));
      // A ghost cell changes nothing that it joins.
      const float ghost = average ? 0.0f : -INFINITY;
      const float cell = needed ? cells[h * row + w * layer.N] : ghost;
#pragma unroll
      for (int e = 0; e < kRows; ++e) {
#pragma unroll
        for (int f = 0; f < kColumns; ++f) {
          const int r = i - e * stride_h;  // the cell's place in this output's window
          const int s = j - f * stride_w;
          if (r < 0 || r >= R || s < 0 || s >= S) continue;  // it is not in it
          results[e][f] = average ? results[e][f] + cell : fmaxf(results[e][f], cell);
        }
      }
    }
  }

#pragma unroll
  for (int e = 0; e < kRows; ++e) {
#pragma unroll
    for (int f = 0; f < kColumns; ++f) {
      if (e >= rows || f >= columns) continue;
      const int h = first_h + e * stride_h;
      const int w = first_w + f * stride_w;
      const int count =
          inside ? R * S : (min(h + R, layer.H) - max(h, 0)) * (min(w + S, layer.W) - max(w, 0));
      outputs[(first_p + e) * layer.Q * layer.N + (first_q + f) * layer.N] =
          average ? results[e][f] / static_cast<float>(count) : results[e][f];
    }
  }
}

// Preconditions: as step 2, with tiles of kRows x kColumns outputs for places; where that is more than
// one, windows overlap. kWindow as for pool_tile. The bounds say that 8 blocks per SM are enough. So
// the compiler may take 64 registers, and starts all 25 loads of 2 x 2 outputs before it uses the first;
// without them it keeps to 32 registers, for twice the warps, and starts four at a time.
template <bool kAverage, int kWindow, int kRows, int kColumns>
__global__ void __launch_bounds__(kImages* kChannels, 8)
    chwn_reuse_kernel(const float* input,  // [C][H][W][N]
                      float* output,       // [C][P][Q][N]
                      const LayerNumbers layer) {
  const int image_tiles = (layer.N - 1) / kImages + 1;
  const int channel_groups = (layer.C - 1) / kChannels + 1;
  const int tiles_across = (layer.Q - 1) / kColumns + 1;
  int rest = blockIdx.x;
  const int n = rest % image_tiles * kImages + threadIdx.x;
  rest /= image_tiles;
  const int q = rest % tiles_across * kColumns;
  rest /= tiles_across;
  const int c = rest % channel_groups * kChannels + threadIdx.y;
  const int p = rest / channel_groups * kRows;
  if (n >= layer.N || c >= layer.C) return;

  const float* cells = input + c * layer.H * layer.W * layer.N + n;
  float* outputs = output + c * layer.P * layer.Q * layer.N + n;
  // All lanes have the same tile, so one check says whether anything can be missing.
  const int h = p * layer.stride_h - layer.padding_h;
  const int w = q * layer.stride_w - layer.padding_w;
  if (p + kRows <= layer.P && q + kColumns <= layer.Q && h >= 0 && w >= 0 &&
      h + (kRows - 1) * layer.stride_h + layer.R <= layer.H &&
      w + (kColumns - 1) * layer.stride_w + layer.S <= layer.W) {
    pool_tile<kWindow, kRows, kColumns>(cells, outputs, layer, kAverage, true, p, q);
  } else {
    pool_tile<kWindow, kRows, kColumns>(cells, outputs, layer, kAverage, false, p, q);
  }
}

// `rows` and `columns` are the outputs of a thread, 1, 2 or 4 each. expansion.hpp chooses them.
int chwn_reuse(const PoolingCall& call, int rows, int columns) {
  const LayerNumbers& layer = call.layer;
  const bool is_known = layer.R == layer.S && layer.stride_h == 2 && layer.stride_w == 2;
  const auto kernel = dispatch<4, 2, 1>(rows, [&](auto e) {
    return dispatch<4, 2, 1>(columns, [&](auto f) {
      // Of windows of 2, which do not overlap, a thread has one.
      constexpr int kOther = e.value * f.value == 1 ? 2 : 3;
      return dispatch<3, kOther, kAnyOther>(is_known ? layer.R : 0, [&](auto window) {
        return call.average ? chwn_reuse_kernel<true, window.value, e.value, f.value>
                            : chwn_reuse_kernel<false, window.value, e.value, f.value>;
      });
    });
  });
  if (kernel == nullptr) return cudaErrorInvalidConfiguration;
  const int tiles = ((layer.P - 1) / rows + 1) * ((layer.Q - 1) / columns + 1);
  const int blocks = tiles * ((layer.C - 1) / kChannels + 1) * ((layer.N - 1) / kImages + 1);
  kernel<<<blocks, dim3(kImages, kChannels)>>>(call.input, call.output, layer);
  return cudaGetLastError();
}

}  // namespace halo::fused_pooling
