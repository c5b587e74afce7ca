// Stage 06, step 1: one image, one channel, one filter; one thread an output.
//
// Computes   output[p][q] = sum over r, s of input[p + r][q + s] * filter[r][s], for every place
//            where the filter lies wholly on the image: P = H - R + 1 rows, Q = W - S + 1 columns.
//            This is eq. 2 of Chang & Onishi ("Fast convolution kernels on Pascal GPU with high
//            memory efficiency", section 2.1) for one of its filters.
// Changed    since 02 grid: a second dimension. An output is found by two numbers, and a row of the
//            image is W cells away from the next.
// Must cost  per warp, a row of 32 outputs: R*S requests for cells, of 4 or 5 sectors each (5 unless
//            they begin on a sector), R*S requests of 1 sector for taps, 1 store.
// Run        halo run 06 --variant one_channel
#include "stages/06_conv2d_direct/conv2d_direct.hpp"

namespace halo::conv2d_direct {

// [doc:kernel]
// Preconditions: N = C = K = 1, stride 1, no padding; blocks of kTileColumns x kTileRows threads, as
// many as tiles are needed to cover P x Q.
__global__ void one_channel_kernel(const float* input,    // [H][W]
                                   const float* filters,  // [R][S]
                                   float* output,         // [P][Q]
                                   const Layer layer) {
  // The grid is a plain row of blocks, and each finds its tile by division. A two-dimensional grid
  // would save the divisions, but its second number ends at 65,535.
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tile = blockIdx.x;
  const int p = tile / tiles_across * kTileRows + threadIdx.y;
  const int q = tile % tiles_across * kTileColumns + threadIdx.x;
  if (p >= layer.P || q >= layer.Q) return;

  float sum = 0.0f;
  for (int r = 0; r < layer.R; ++r) {
    for (int s = 0; s < layer.S; ++s) {
      sum += input[(p + r) * layer.W + q + s] * filters[r * layer.S + s];
    }
  }
  output[p * layer.Q + q] = sum;
}
// [/doc:kernel]

cudaError_t one_channel(const float* input, const float* filters, float* output,
                        const Layer& layer) {
  const int tiles_across = (layer.Q - 1) / kTileColumns + 1;
  const int tiles_down = (layer.P - 1) / kTileRows + 1;
  const dim3 threads(kTileColumns, kTileRows);
  one_channel_kernel<<<tiles_across * tiles_down, threads>>>(input, filters, output, layer);
  return cudaGetLastError();
}

}  // namespace halo::conv2d_direct
