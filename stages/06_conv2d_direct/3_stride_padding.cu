// Stage 06, step 3: stride and padding, which makes it any layer.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero. With stride 1 and no padding it is eq. 1 of Chang et al. ("Fast
//            convolution kernels on Pascal GPU with high memory efficiency", section 2.1).
// Changed    since 2 channels: the filter of an output begins where stride and padding put it, which
//            may be beyond an edge; so each row and each cell is checked.
// Must cost  with stride 1 as step 2, less what the ghost cells save. With stride 2 the 32 cells of
//            a request are spread over 63: 8 or 9 sectors, of which half is used.
// Run        ./halo run 06 --variant stride_padding
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

// Preconditions: blocks of kTileColumns x kTileRows threads, for each of N * K planes as many as
// tiles are needed to cover P x Q.
__global__ void stride_padding_kernel(const float* input,    // [N][C][H][W]
                                      const float* filters,  // [K][C][R][S]
                                      float* output,         // [N][K][P][Q]
                                      const LayerNumbers layer) {
  // Blocks that follow each other share a plane; then comes the next filter on the same image, which
  // the L2 cache may still hold. With n before k the filter would be the one that stays.
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int tile_number = blockIdx.x % (tiles_across * tiles_down);
  const int plane = blockIdx.x / (tiles_across * tiles_down);
  const int k = plane % layer.K;
  const int n = plane / layer.K;
  const int p = tile_number / tiles_across * kTileRows + threadIdx.y;
  const int q = tile_number % tiles_across * kTileColumns + threadIdx.x;
  if (p >= layer.P || q >= layer.Q) return;

  float sum = 0.0f;
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (n * layer.C + c) * layer.H * layer.W;     // [H][W]
    const float* filter = filters + (k * layer.C + c) * layer.R * layer.S;  // [R][S]
    for (int r = 0; r < layer.R; ++r) {
      const int h = p * layer.stride_h - layer.padding_h + r;
      if (h < 0 || h >= layer.H) continue;  // a row of ghost cells: adds zero
      for (int s = 0; s < layer.S; ++s) {
        const int w = q * layer.stride_w - layer.padding_w + s;
        if (w < 0 || w >= layer.W) continue;
        sum += image[h * layer.W + w] * filter[r * layer.S + s];
      }
    }
  }
  output[(plane * layer.P + p) * layer.Q + q] = sum;
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const int blocks = tiles_across * tiles_down * layer.N * layer.K;  // each has an output: fits
  const dim3 threads(kTileColumns, kTileRows);
  stride_padding_kernel<<<blocks, threads>>>(c.input, c.filters, c.output, layer);
  return cudaGetLastError();
}

LayerKernel stride_padding() {
  return {.description = "any layer, everything from global memory",
          .launch = launch,
          .tiles = {{.P = kTileRows, .Q = kTileColumns}}};
}

}  // namespace halo::conv2d_direct
