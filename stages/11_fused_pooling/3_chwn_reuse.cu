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
#include <cuda_runtime.h>

#include "stages/11_fused_pooling/pool_tile.cuh"

namespace halo::fused_pooling {

constexpr int kImages = kWarpSize;  // of a warp, as in step 2
constexpr int kChannels = 4;        // of a block

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
