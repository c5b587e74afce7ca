// Stage 11, step 4: pooling in NCHW, several outputs of a column per thread.
//
// Computes   each output as the largest or the average cell of its window; ghost cells take no part.
// Changed    since 1 nchw: a thread has kRows outputs one below the other, and reads the rows that two
//            of their windows share once, as step 3 does. It has one column only: lanes are columns, and
//            with two outputs beside each other in a thread its lanes would be twice as far apart. Each
//            request would touch twice the sectors, to save a sixth of the requests.
// Must cost  of the R*S requests that step 1 makes for 32 outputs the share
//            ((e - 1) * stride_h + R) / (e * R), each of as many sectors as there.
// Run        ./halo run 11 --variant nchw_reuse
#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/overlap.h"

namespace halo::fused_pooling {

constexpr int kThreads = 256;  // of a block

// Preconditions: blocks of kThreads threads, as many as N * C * ceil(P / kRows) * Q columns need; where
// kRows is more than 1, windows overlap downwards. kWindow is that of R = S = kWindow and strides 2, or 0
// for any other layer; bounds as for step 3.
template <bool kAverage, int kWindow, int kRows>
__global__ void __launch_bounds__(kThreads, 4)
    nchw_reuse_kernel(const float* input,  // [N][C][H][W]
                      float* output,       // [N][C][P][Q]
                      const LayerNumbers layer) {
  wait_for_launches_before();
  const int tiles_down = (layer.P - 1) / kRows + 1;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int q = i % layer.Q;
  const int first_p = i / layer.Q % tiles_down * kRows;
  const int plane = i / layer.Q / tiles_down;
  if (plane >= layer.N * layer.C) return;
  const float* cells = input + plane * layer.H * layer.W;  // [H][W]
  float* outputs = output + plane * layer.P * layer.Q;     // [P][Q]

  const int R = kWindow > 0 ? kWindow : layer.R, stride_h = kWindow > 0 ? 2 : layer.stride_h;
  const int S = kWindow > 0 ? kWindow : layer.S, stride_w = kWindow > 0 ? 2 : layer.stride_w;
  const int rows = min(kRows, layer.P - first_p);  // outputs that exist
  const int tile_rows = ((kWindow > 0 ? kRows : rows) - 1) * stride_h + R;
  const int first_h = first_p * stride_h - layer.padding_h;
  const int first_w = q * stride_w - layer.padding_w;
  const int end_h = min(first_h + (rows - 1) * stride_h + R, layer.H);
  const int end_w = min(first_w + S, layer.W);

  // [doc:rows]
  float results[kRows];
#pragma unroll
  for (int e = 0; e < kRows; ++e) results[e] = kAverage ? 0.0f : -INFINITY;
    // Lanes have different windows, and most warps one at an edge. So each load is checked, which
    // takes an instruction; with a path of its own for windows inside, most warps would take both.
#pragma unroll
  for (int j = 0; j < tile_rows; ++j) {
    const int h = first_h + j;
    const bool has_row = h >= 0 && h < end_h;
#pragma unroll
    for (int s = 0; s < S; ++s) {
      const int w = first_w + s;
      const float ghost = kAverage ? 0.0f : -INFINITY;  // changes nothing that it joins
      const float cell = has_row && w >= 0 && w < end_w ? cells[h * layer.W + w] : ghost;
#pragma unroll
      for (int e = 0; e < kRows; ++e) {
        const int r = j - e * stride_h;  // the row's place in this output's window
        if (r < 0 || r >= R) continue;   // it is not in it
        results[e] = kAverage ? results[e] + cell : fmaxf(results[e], cell);
      }
    }
  }
  // [/doc:rows]
  let_next_launch_begin();
  const int columns = end_w - max(first_w, 0);
#pragma unroll
  for (int e = 0; e < kRows; ++e) {
    if (e >= rows) continue;
    const int h = first_h + e * stride_h;
    const int count = (min(h + R, layer.H) - max(h, 0)) * columns;
    outputs[(first_p + e) * layer.Q + q] =
        kAverage ? results[e] / static_cast<float>(count) : results[e];
  }
}

// `rows` are the outputs of a thread: 1, 2, 4 or 7. expansion.hpp chooses them.
int nchw_reuse(const PoolingCall& call, int rows) {
  const LayerNumbers& layer = call.layer;
  const bool is_known = layer.R == layer.S && layer.stride_h == 2 && layer.stride_w == 2;
  const auto kernel = dispatch<7, 4, 2, 1>(rows, [&](auto e) {
    constexpr int kOther =
        e.value == 1 ? 2 : 3;  // of windows of 2, which do not overlap, it has one
    return dispatch<3, kOther, kAnyOther>(is_known ? layer.R : 0, [&](auto window) {
      return call.average ? nchw_reuse_kernel<true, window.value, e.value>
                          : nchw_reuse_kernel<false, window.value, e.value>;
    });
  });
  const int columns = layer.N * layer.C * ((layer.P - 1) / rows + 1) * layer.Q;
  return launch_overlapping(call.overlaps, kernel, (columns - 1) / kThreads + 1, kThreads, 0,
                            nullptr, call.input, call.output, layer);
}

}  // namespace halo::fused_pooling
