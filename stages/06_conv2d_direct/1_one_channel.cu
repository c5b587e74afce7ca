// Stage 06, step 1: one image, one channel, one filter; one thread per output.
//
// Computes   output[p][q] = sum over r, s of input[p + r][q + s] * filter[r][s], for every place
//            where the filter lies wholly on the image: P = H - R + 1 rows, Q = W - S + 1 columns.
//            This is eq. 2 of Chang et al. ("Fast convolution kernels on Pascal GPU with high
//            memory efficiency", section 2.1) for one of its filters.
// Changed    since 02 grid: a second dimension. An output is found by two numbers, and a row of the
//            image is W cells away from the next.
// Must cost  per warp, a row of 32 outputs: R*S requests for cells, of 4 or 5 sectors each (5 unless
//            they begin on a sector), R*S requests of 1 sector for taps, 1 store.
// Run        ./halo run 06 --variant one_channel
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::conv2d_direct {

// A block has 8 rows of 32 threads and computes as many outputs of one plane. A warp is one row of
// outputs: its reads and its writes are runs of neighbours, and the ends of a row of the image are
// only ever met at the ends of a warp. The price is paid on narrow maps: with Q = 7, 25 of 32 lanes
// have nothing to do. 16 x 16 threads would idle less there and need a smaller halo (18 x 18 cells
// against 10 x 34 for a 3 x 3 filter), but each request would be two runs in two rows.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;

// Preconditions: N = C = K = 1, stride 1, no padding; blocks of kTileColumns x kTileRows threads, as
// many as tiles are needed to cover P x Q.
__global__ void one_channel_kernel(const float* input,    // [H][W]
                                   const float* filters,  // [R][S]
                                   float* output,         // [P][Q]
                                   const LayerNumbers layer) {
  // The grid is a plain row of blocks, and each finds its tile by division. A two-dimensional grid
  // would save the divisions, but its second dimension ends at 65,535.
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tile_number = blockIdx.x;
  const int p = tile_number / tiles_across * kTileRows + threadIdx.y;
  const int q = tile_number % tiles_across * kTileColumns + threadIdx.x;
  if (p >= layer.P || q >= layer.Q) return;

  float sum = 0.0f;
  for (int r = 0; r < layer.R; ++r) {
    for (int s = 0; s < layer.S; ++s) {
      sum += input[(p + r) * layer.W + q + s] * filters[r * layer.S + s];
    }
  }
  output[p * layer.Q + q] = sum;
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const dim3 threads(kTileColumns, kTileRows);
  one_channel_kernel<<<tiles_across * tiles_down, threads>>>(c.input, c.filters, c.output, layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (layer.N != 1 || layer.C != 1 || layer.K != 1) {
    return "it is made for one image, one channel and one filter";
  }
  if (layer.stride_h != 1 || layer.stride_w != 1) return "it knows no stride but 1";
  if (layer.padding_h != 0 || layer.padding_w != 0) {
    return "it knows no padding: 7-1-3-1-1 has one cell all round, 7-1-3-1-1-p0 has none";
  }
  return nullptr;
}

LayerKernel one_channel() {
  return {.description = "one image, one channel, one filter; a thread per output",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.P = kTileRows, .Q = kTileColumns}}};
}

}  // namespace halo::conv2d_direct
