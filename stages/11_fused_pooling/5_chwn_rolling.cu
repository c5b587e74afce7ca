// Stage 11, step 5: pooling in CHWN, a thread goes down a strip of outputs, four images at a time.
//
// Computes   each output as the largest or the average cell of its window, of images that lie in the
//            order [C][H][W][N]; ghost cells take no part.
// Changed    since 3 chwn_reuse: a thread has one column of outputs, and goes down. Of each row of cells it
//            keeps what the row gives to a window, so the row that two windows share is read once. What
//            two columns share is read by two threads of one block, at nearly the same time: the second
//            finds it in the L1 cache. Four images are 16 bytes, a quarter of the requests.
// Must cost  of the R*S requests that step 2 makes for an output, a quarter, and of its R rows, with
//            windows of 3 and stride 2, two and a share of the one above the strip.
// Run        ./halo run 11 --variant chwn_rolling
#include <cuda_runtime.h>

#include <type_traits>

#include "common/harness/kernel.h"
#include "stages/11_fused_pooling/piece.cuh"

namespace halo::fused_pooling {

constexpr int kThreads = 128;  // of a block

// Preconditions: blocks of kThreads threads, as many as C * ceil(P / strip) rows of Q * N / kImages columns
// need; Piece has kImages images, 1 or 4, and N is a multiple of it. kWindow is that of R = S = kWindow and
// strides 2, or 0 for any other layer.
template <bool kAverage, int kWindow, class Piece>
__global__ void __launch_bounds__(kThreads, 8)
    chwn_rolling_kernel(const Piece* __restrict__ input,  // [C][H][W][N / kImages]
                        Piece* __restrict__ output,       // [C][P][Q][N / kImages]
                        const LayerNumbers layer, int strip) {
  constexpr int kImages = sizeof(Piece) / sizeof(float);
  const int pieces = layer.N / kImages;
  const int across = layer.Q * pieces;  // threads of a row of outputs
  const int blocks_across = (across - 1) / kThreads + 1;
  const int strips = (layer.P - 1) / strip + 1;
  const int i = blockIdx.x % blocks_across * kThreads + threadIdx.x;
  const int first_p = blockIdx.x / blocks_across % strips * strip;
  const int c = blockIdx.x / blocks_across / strips;
  if (i >= across) return;
  const int end_p = min(first_p + strip, layer.P);

  const int R = kWindow > 0 ? kWindow : layer.R, stride_h = kWindow > 0 ? 2 : layer.stride_h;
  const int S = kWindow > 0 ? kWindow : layer.S, stride_w = kWindow > 0 ? 2 : layer.stride_w;
  const int first_w = i / pieces * stride_w - layer.padding_w;
  const int begin_w = max(first_w, 0), end_w = min(first_w + S, layer.W);
  const int row = layer.W * pieces;  // from a piece to the one below
  const Piece* const cells = input + c * layer.H * row + first_w * pieces + i % pieces;
  Piece* to = output + (c * layer.P + first_p) * across + i;

  const Piece ghost = ghost_piece<kAverage, Piece>();
  const auto cell_at = [&](int h, int s) {
    const bool exists = h >= 0 && h < layer.H && first_w + s >= begin_w && first_w + s < end_w;
    return exists ? cells[h * row + s * pieces] : ghost;
  };
  const auto store = [&](Piece result, int h) {
    if (kAverage) {
      const int rows = min(h + R, layer.H) - max(h, 0);
      result = quotient(result, static_cast<float>(rows * (end_w - begin_w)));
    }
    *to = result;
    to += across;
  };

  int h = first_p * stride_h - layer.padding_h;
  if constexpr (kWindow > 0) {
    // Each output brings two rows; of a window of 3 the first is the last one of the window above. The rows of the next
    // output are requested before those of this one are used: without that a thread has no load
    // under way while it computes and stores.
    constexpr int kShared = kWindow - 2;
    Piece shared = ghost, next[2][kWindow];
    const auto load_next = [&] {
#pragma unroll
      for (int j = 0; j < 2 * kWindow; ++j) {
        next[j / kWindow][j % kWindow] = cell_at(h + kShared + j / kWindow, j % kWindow);
      }
    };
    // [doc:strip]
    load_next();
#pragma unroll
    for (int s = 0; s < kShared * kWindow; ++s) join<kAverage>(shared, cell_at(h, s));
    for (int p = first_p; p < end_p; ++p) {
      Piece result = shared, last = ghost;
#pragma unroll
      for (int s = 0; s < kWindow; ++s) {
        join<kAverage>(result, next[0][s]);
        join<kAverage>(last, next[1][s]);
      }
      const int first_h = h;
      h += 2;
      if (p + 1 < end_p) load_next();
      join<kAverage>(result, last);
      store(result, first_h);
      if (kShared > 0) shared = last;
    }
    // [/doc:strip]
  } else {
    for (int p = first_p; p < end_p; ++p, h += stride_h) {
      Piece result = ghost;
      const int end_h = min(h + R, layer.H);
      for (int r = max(h, 0); r < end_h; ++r) {
#pragma unroll 1
        for (int w = begin_w; w < end_w; ++w) {
          const Piece cell = cells[r * row + (w - first_w) * pieces];
          join<kAverage>(result, cell);
        }
      }
      store(result, h);
    }
  }
}

// `strip` are the outputs that a thread goes down: strip_of chooses them.
int chwn_rolling(const PoolingCall& call, int strip) {
  const LayerNumbers& layer = call.layer;
  const bool is_known = layer.R == layer.S && layer.stride_h == 2 && layer.stride_w == 2;
  return dispatch<4, 1>(layer.N % 4 == 0 ? 4 : 1, [&](auto images) {
    using Piece = std::conditional_t<images.value == 4, float4, float>;
    const auto kernel = dispatch<3, 2, kAnyOther>(is_known ? layer.R : 0, [&](auto window) {
      return call.average ? chwn_rolling_kernel<true, window.value, Piece>
                          : chwn_rolling_kernel<false, window.value, Piece>;
    });
    const int across = (layer.Q * (layer.N / images.value) - 1) / kThreads + 1;
    const int strips = (layer.P - 1) / strip + 1;
    kernel<<<across * strips * layer.C, kThreads>>>(reinterpret_cast<const Piece*>(call.input),
                                                    reinterpret_cast<Piece*>(call.output), layer,
                                                    strip);
    return static_cast<int>(cudaGetLastError());
  });
}

}  // namespace halo::fused_pooling
