// Stage 13, kernel 3: a fully connected layer for few images, its features shared out over lanes.
//
// Computes   output[n][k] = sum over f of input[n][f] * filters[k][f], in NCHW ([N][F] and [N][K]) or in
//            CHWN ([F][N] and [K][N]).
// Changed    since kernel 2: a warp has one output of up to 4 images; its lanes add every 32nd feature
//            each, then their 32 sums. No tile, nothing in shared memory, no barrier.
// Must cost  the filters once for every 4 images: with 1 image, which uses each tap once, that is all
//            there is to read. With many images they come again and again; kernel 2 reads them once for 64.
//            In CHWN the lanes' cells lie N apart: up to 32 sectors where NCHW needs 4.
// Run        halo run 13 --network lenet --batch 1
#include "stages/13_network/network_kernels.hpp"

namespace halo::network {

// [doc:fully_connected_lanes]
// Preconditions: blocks of kLaneWarps * 32 threads; block b has the images of group b % groups, warp w of
// it the output b / groups * kLaneWarps + w.
template <bool kImagesFastest>                      // false: NCHW, true: CHWN
__global__ void lanes_kernel(const float* input,    // [N][F] or [F][N]
                             const float* filters,  // [K][F]
                             float* output,         // [N][K] or [K][N]
                             const Connections layer) {
  const int groups = (layer.N - 1) / kLaneImages + 1;
  const int first_n = blockIdx.x % groups * kLaneImages;
  const int k = blockIdx.x / groups * kLaneWarps + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (k >= layer.K) return;  // the whole warp

  float sum[kLaneImages] = {};
  for (int f = lane; f < layer.F; f += 32) {
    const float tap = filters[k * layer.F + f];
    for (int i = 0; i < kLaneImages; ++i) {
      const int n = first_n + i;
      if (n >= layer.N) break;
      sum[i] += input[kImagesFastest ? f * layer.N + n : n * layer.F + f] * tap;
    }
  }
  // In pairs, quarters, ...: after 5 steps each lane has the whole sum.
  for (int i = 0; i < kLaneImages; ++i) {
    for (int step = 16; step > 0; step /= 2) {
      sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], step);
    }
  }
  if (lane > 0) return;
  for (int i = 0; i < kLaneImages; ++i) {
    const int n = first_n + i;
    if (n < layer.N) output[kImagesFastest ? k * layer.N + n : n * layer.K + k] = sum[i];
  }
}
// [/doc:fully_connected_lanes]

template <bool kImagesFastest>
static cudaError_t launch(const float* input, const float* filters, float* output,
                          const Connections& layer) {
  // At most one block for each output and group of images: fits.
  const int blocks = ((layer.N - 1) / kLaneImages + 1) * ((layer.K - 1) / kLaneWarps + 1);
  lanes_kernel<kImagesFastest><<<blocks, kLaneWarps * 32>>>(input, filters, output, layer);
  return cudaGetLastError();
}

cudaError_t fully_connected_lanes_nchw(const float* input, const float* filters, float* output,
                                       const Connections& layer) {
  return launch<false>(input, filters, output, layer);
}

cudaError_t fully_connected_lanes_chwn(const float* input, const float* filters, float* output,
                                       const Connections& layer) {
  return launch<true>(input, filters, output, layer);
}

}  // namespace halo::network
