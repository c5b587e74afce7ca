// Stage 11, step 4: pooling in NCHW, several outputs of a column a thread.
//
// Computes   each output as the largest or the average cell of its window; ghost cells take no part.
// Changed    since 1 nchw: a thread has kRows outputs one below the other, and reads the rows that two
//            of their windows share once, as step 3 does. It has one column only: lanes are columns, and
//            with two outputs beside each other in a thread its lanes would be twice as far apart. Each
//            request would touch twice the sectors, to save a sixth of the requests.
// Must cost  of the R*S requests that step 1 makes for 32 outputs the share
//            ((e - 1) * stride_h + R) / (e * R), each of as many sectors as there.
// Run        halo run 11 --variant nchw_reuse
#include <cmath>

#include "stages/11_fused_pooling/fused_pooling.hpp"

namespace halo::fused_pooling {

// [doc:kernel]
// Preconditions: blocks of kThreads threads, as many as N * C * ceil(P / kRows) * Q columns need; where
// kRows is more than 1, windows overlap downwards. kWindow is that of R = S = kWindow and strides 2, or 0
// for any other layer; bounds as for step 3.
template <bool kAverage, int kWindow, int kRows>
__global__ void __launch_bounds__(kThreads, 4)
    nchw_reuse_kernel(const float* input,  // [N][C][H][W]
                      float* output,       // [N][C][P][Q]
                      const Layer layer) {
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

  float results[kRows];
#pragma unroll
  for (int e = 0; e < kRows; ++e) results[e] = kAverage ? 0.0f : -INFINITY;
    // Lanes have different windows, and most warps one at an edge. So each load is asked for, which
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
// [/doc:kernel]

template <int kWindow, int kRows>
static void launch(const float* input, float* output, const Layer& layer) {
  const int threads = layer.N * layer.C * ((layer.P - 1) / kRows + 1) * layer.Q;
  const int blocks = (threads - 1) / kThreads + 1;
  if (layer.average) {
    nchw_reuse_kernel<true, kWindow, kRows><<<blocks, kThreads>>>(input, output, layer);
  } else {
    nchw_reuse_kernel<false, kWindow, kRows><<<blocks, kThreads>>>(input, output, layer);
  }
}

template <int kRows>
static void launch_rows(const float* input, float* output, const Layer& layer) {
  if (has_windows(layer, 3)) return launch<3, kRows>(input, output, layer);
  if (kRows == 1 && has_windows(layer, 2)) return launch<2, 1>(input, output, layer);
  launch<0, kRows>(input, output, layer);
}

cudaError_t nchw_reuse(const float* input, float* output, const Layer& layer, int rows) {
  if (rows == 4) {
    launch_rows<4>(input, output, layer);
  } else if (rows == 2) {
    launch_rows<2>(input, output, layer);
  } else {
    launch_rows<1>(input, output, layer);
  }
  return cudaGetLastError();
}

}  // namespace halo::fused_pooling
