// Stage 11, step 2: pooling in CHWN, one thread per output.
//
// Computes   each output as the largest or the average cell of its window, of images that lie in the
//            order [C][H][W][N]; ghost cells take no part.
// Changed    since 1 nchw: the lanes of a warp are neighbouring images and not neighbouring columns.
//            All have the same window, so they read neighbours whatever the stride is. The mapping is
//            cuda-convnet's, the CHWN side of Fig. 6 of Li et al. (SC'16).
// Must cost  per warp R*S requests of 4 sectors (5, if N is no multiple of 8), and no cell is brought
//            that nobody uses. With a window of 3 and stride 2 each is still requested 9 / 4 times.
// Run        ./halo run 11 --variant chwn
#include <cuda_runtime.h>

#include <cmath>

#include "common/harness/kernel.h"

namespace halo::fused_pooling {

// A warp is 32 images, a block the same place in kChannels channels. With fewer than 32 images
// some lanes idle, and with few channels some warps: that is the mapping's cost.
constexpr int kImages = kWarpSize;
constexpr int kChannels = 4;

// Preconditions: blocks of kImages x kChannels threads; for each output place as many as it takes to
// cover C channels and N images.
template <bool kAverage>
__global__ void chwn_kernel(const float* input,  // [C][H][W][N]
                            float* output,       // [C][P][Q][N]
                            const LayerNumbers layer) {
  // Blocks that follow each other have the same place in other images, then the place to its right.
  // So a cell that is in two windows is requested by two blocks, which may be on two SMs. The warps of
  // a block could be neighbours in q instead of in c; then their L1 cache would see the overlap.
  const int image_tiles = (layer.N - 1) / kImages + 1;
  const int channel_groups = (layer.C - 1) / kChannels + 1;
  int rest = blockIdx.x;
  const int n = rest % image_tiles * kImages + threadIdx.x;
  rest /= image_tiles;
  const int q = rest % layer.Q;
  rest /= layer.Q;
  const int c = rest % channel_groups * kChannels + threadIdx.y;
  const int p = rest / channel_groups;
  if (n >= layer.N || c >= layer.C) return;

  const int first_h = p * layer.stride_h - layer.padding_h;
  const int first_w = q * layer.stride_w - layer.padding_w;
  const int begin_h = max(first_h, 0), end_h = min(first_h + layer.R, layer.H);
  const int begin_w = max(first_w, 0), end_w = min(first_w + layer.S, layer.W);

  const float* cells = input + c * layer.H * layer.W * layer.N + n;  // [H][W], N apart
  float result = kAverage ? 0.0f : -INFINITY;
  for (int h = begin_h; h < end_h; ++h) {
    for (int w = begin_w; w < end_w; ++w) {
      const float cell = cells[(h * layer.W + w) * layer.N];
      result = kAverage ? result + cell : fmaxf(result, cell);
    }
  }
  if (kAverage) result /= static_cast<float>((end_h - begin_h) * (end_w - begin_w));
  output[((c * layer.P + p) * layer.Q + q) * layer.N + n] = result;
}

static int launch(const PoolingCall& call) {
  const LayerNumbers& layer = call.layer;
  const int image_tiles = (layer.N - 1) / kImages + 1;
  const int channel_groups = (layer.C - 1) / kChannels + 1;
  const int blocks = layer.P * channel_groups * layer.Q * image_tiles;
  const auto kernel = call.average ? chwn_kernel<true> : chwn_kernel<false>;
  kernel<<<blocks, dim3(kImages, kChannels)>>>(call.input, call.output, layer);
  return cudaGetLastError();
}

PoolingKernel chwn() {
  return {.description = "one output per thread, lanes across images",
          .launch = launch,
          .chwn = true,
          .tiles = {{.N = kImages, .C = kChannels}}};
}

}  // namespace halo::fused_pooling
