// Stage 11, step 3: pooling in CHWN, several neighbouring outputs a thread.
//
// Computes   as step 2.
// Changed    since 2 chwn: a thread has kRows x kColumns outputs, whose windows overlap. It reads the
//            cells under all of them once, and joins each from its register to every output whose
//            window it is in. Li et al. (SC'16) call it expanding the working set of a thread.
// Must cost  of the R*S requests that step 2 makes for an output, along each axis with an expansion e
//            the share ((e - 1) * stride + R) / (e * R): with 2 x 2 outputs, windows of 3 and stride 2,
//            25 requests for four outputs instead of 36. And a quarter of the threads, each with four
//            results in registers.
// Run        halo run 11 --variant chwn_reuse
#include "stages/11_fused_pooling/tile.cuh"

namespace halo::fused_pooling {

// [doc:kernel]
// Preconditions: as step 2, with tiles of kRows x kColumns outputs for places; where that is more than
// one, windows overlap. kWindow as for pool_tile. The bounds say that 8 blocks to an SM are enough. So
// the compiler may take 64 registers, and starts all 25 loads of 2 x 2 outputs before it uses the first;
// without them it keeps to 32 registers, for twice the warps, and starts four at a time.
template <bool kAverage, int kWindow, int kRows, int kColumns>
__global__ void __launch_bounds__(kImages* kChannels, 8)
    chwn_reuse_kernel(const float* input,  // [C][H][W][N]
                      float* output,       // [C][P][Q][N]
                      const Layer layer) {
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

  const int N = layer.N;  // cells that are neighbours in a row lie N floats apart
  const Plane<const float> cells = {input + c * layer.H * layer.W * N + n, layer.W * N, N};
  const Plane<float> outputs = {output + c * layer.P * layer.Q * N + n, layer.Q * N, N};
  // All lanes have the same tile, so it is asked once whether anything can be missing.
  const int h = p * layer.stride_h - layer.padding_h;
  const int w = q * layer.stride_w - layer.padding_w;
  if (p + kRows <= layer.P && q + kColumns <= layer.Q && h >= 0 && w >= 0 &&
      h + (kRows - 1) * layer.stride_h + layer.R <= layer.H &&
      w + (kColumns - 1) * layer.stride_w + layer.S <= layer.W) {
    pool_tile<kAverage, kWindow, true, kRows, kColumns>(cells, outputs, layer, p, q);
  } else {
    pool_tile<kAverage, kWindow, false, kRows, kColumns>(cells, outputs, layer, p, q);
  }
}
// [/doc:kernel]

template <int kWindow, int kRows, int kColumns>
static void launch(const float* input, float* output, const Layer& layer) {
  const int tiles = ((layer.P - 1) / kRows + 1) * ((layer.Q - 1) / kColumns + 1);
  const int blocks = tiles * ((layer.C - 1) / kChannels + 1) * ((layer.N - 1) / kImages + 1);
  const dim3 threads(kImages, kChannels);
  if (layer.average) {
    chwn_reuse_kernel<true, kWindow, kRows, kColumns><<<blocks, threads>>>(input, output, layer);
  } else {
    chwn_reuse_kernel<false, kWindow, kRows, kColumns><<<blocks, threads>>>(input, output, layer);
  }
}

template <int kRows, int kColumns>
static void launch_tiles(const float* input, float* output, const Layer& layer) {
  if (has_windows(layer, 3)) return launch<3, kRows, kColumns>(input, output, layer);
  if (kRows * kColumns == 1 && has_windows(layer, 2)) return launch<2, 1, 1>(input, output, layer);
  launch<0, kRows, kColumns>(input, output, layer);
}

template <int kRows>
static void launch_rows(const float* input, float* output, const Layer& layer, int columns) {
  if (columns == 4) return launch_tiles<kRows, 4>(input, output, layer);
  if (columns == 2) return launch_tiles<kRows, 2>(input, output, layer);
  launch_tiles<kRows, 1>(input, output, layer);
}

cudaError_t chwn_reuse(const float* input, float* output, const Layer& layer, Expansion expansion) {
  if (expansion.rows == 4) {
    launch_rows<4>(input, output, layer, expansion.columns);
  } else if (expansion.rows == 2) {
    launch_rows<2>(input, output, layer, expansion.columns);
  } else {
    launch_rows<1>(input, output, layer, expansion.columns);
  }
  return cudaGetLastError();
}

}  // namespace halo::fused_pooling
