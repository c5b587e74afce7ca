// Stage 11, step 4: pooling in NCHW, several outputs of a column a thread.
//
// Computes   as step 1.
// Changed    since 1 nchw: a thread has kRows outputs one below the other, and reads the rows that two
//            of their windows share once, as step 3 does. It has one column only: lanes are columns, and
//            with two outputs beside each other in a thread its lanes would be twice as far apart. Each
//            request would touch twice the sectors, to save a sixth of the requests.
// Must cost  of the R*S requests that step 1 makes for 32 outputs the share
//            ((e - 1) * stride_h + R) / (e * R), each of as many sectors as there.
// Run        halo run 11 --variant nchw_reuse
#include "stages/11_fused_pooling/tile.cuh"

namespace halo::fused_pooling {

// [doc:kernel]
// Preconditions: blocks of kThreads threads, as many as N * C * ceil(P / kRows) * Q columns need; where
// kRows is more than 1, windows overlap downwards. kWindow as for pool_tile, bounds as for step 3.
template <bool kAverage, int kWindow, int kRows>
__global__ void __launch_bounds__(kThreads, 4)
    nchw_reuse_kernel(const float* input,  // [N][C][H][W]
                      float* output,       // [N][C][P][Q]
                      const Layer layer) {
  const int tiles_down = (layer.P - 1) / kRows + 1;
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int q = i % layer.Q;
  const int p = i / layer.Q % tiles_down * kRows;
  const int plane = i / layer.Q / tiles_down;
  if (plane >= layer.N * layer.C) return;

  const Plane<const float> cells = {input + plane * layer.H * layer.W, layer.W, 1};
  const Plane<float> outputs = {output + plane * layer.P * layer.Q, layer.Q, 1};
  // Lanes have different windows, and most warps one at an edge. So each load is asked for, which
  // takes an instruction; with a path of its own for windows inside, most warps would take both.
  pool_tile<kAverage, kWindow, false, kRows, 1>(cells, outputs, layer, p, q);
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

cudaError_t nchw_reuse(const float* input, float* output, const Layer& layer, Expansion expansion) {
  if (expansion.rows == 4) {
    launch_rows<4>(input, output, layer);
  } else if (expansion.rows == 2) {
    launch_rows<2>(input, output, layer);
  } else {
    launch_rows<1>(input, output, layer);
  }
  return cudaGetLastError();
}

}  // namespace halo::fused_pooling
