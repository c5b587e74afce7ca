// Stage 06, step 2: batches, channels and filters.
//
// Computes   output[n][k][p][q] = sum over c, r, s of input[n][c][p + r][q + s] * filters[k][c][r][s].
//            This is eq. 1 of Chang et al. ("Fast convolution kernels on Pascal GPU with high
//            memory efficiency", section 2.1), and for C = 1 its eq. 2, for a batch of images.
// Changed    since 1 one_channel: the sum runs over channels too, and a block has a plane [n][k]
//            besides its tile.
// Must cost  per warp C times what a warp of step 1 must, and one store. Each of the K planes of an
//            image reads the whole image again, and there are N*K planes.
// Run        ./halo run 06 --variant channels
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

// Preconditions: stride 1, no padding; blocks of kTileColumns x kTileRows threads, for each of N * K
// planes as many as tiles are needed to cover P x Q.
__global__ void channels_kernel(const float* input,    // [N][C][H][W]
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
      for (int s = 0; s < layer.S; ++s) {
        sum += image[(p + r) * layer.W + q + s] * filter[r * layer.S + s];
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
  channels_kernel<<<blocks, threads>>>(c.input, c.filters, c.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (layer.stride_h != 1 || layer.stride_w != 1) return "it knows no stride but 1";
  if (layer.padding_h != 0 || layer.padding_w != 0) {
    return "it knows no padding: 7-1-3-1-1 has one cell all round, 7-1-3-1-1-p0 has none";
  }
  return nullptr;
}

LayerKernel channels() {
  return {.description = "batches, channels and filters; stride 1, no padding",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.P = kTileRows, .Q = kTileColumns}}};
}

}  // namespace halo::conv2d_direct
