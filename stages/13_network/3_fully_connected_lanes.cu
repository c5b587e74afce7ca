// Stage 13, step 3: a fully connected layer for few images, its features spread over the lanes.
//
// Computes   output[n][k] = sum over f of input[n][f] * filters[k][f], in NCHW ([N][F] and [N][K]) or in
//            CHWN ([F][N] and [K][N]).
// Changed    since 2 fully_connected_tiled: a warp has one output of up to 4 images; its lanes add every 32nd feature
//            each, then their 32 sums. No tile, nothing in shared memory, no barrier.
// Must cost  the filters once for every 4 images: with 1 image, which uses each tap once, that is all
//            there is to read. With many images they come again and again; step 2 reads them once for 64.
//            In CHWN the lanes' cells lie N apart: up to 32 sectors where NCHW needs 4.
// Run        ./halo run 13 --network lenet --batch 1
#include <cuda_runtime.h>

#include "common/harness/overlap.h"

namespace halo::network {

constexpr int kLaneWarps = 8;   // warps, and so outputs, of a block
constexpr int kLaneImages = 4;  // images of a warp, unless there is one only

// Preconditions: blocks of kLaneWarps * 32 threads; block b has the images of group b % groups, warp w of
// it the output b / groups * kLaneWarps + w.
template <bool kImagesFastest, int kImages>         // false: NCHW, true: CHWN; images of a warp
__global__ void lanes_kernel(const float* input,    // [N][F] or [F][N]
                             const float* filters,  // [K][F]
                             float* output,         // [N][K] or [K][N]
                             const float* bias,     // [K], or null
                             bool relu, int N, int F, int K) {
  wait_for_launches_before();
  const int groups = (N - 1) / kImages + 1;
  const int first_n = blockIdx.x % groups * kImages;
  const int k = blockIdx.x / groups * kLaneWarps + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (k >= K) return;  // the whole warp

  const float own_bias = bias != nullptr ? bias[k] : 0.0f;  // on its way with the first taps
  float sum[kImages] = {};
  // [doc:taps]
  const auto add = [&](int f) {
    const float tap = filters[k * F + f];
#pragma unroll
    for (int i = 0; i < kImages; ++i) {
      const int n = first_n + i;
      if (kImages == 1 || n < N) sum[i] += input[kImagesFastest ? f * N + n : n * F + f] * tap;
    }
  };
  // The taps that not all lanes have come last, alone: in an unrolled loop lanes with one more diverge from the others.
  const int full = F / kWarpSize * kWarpSize;
#pragma unroll(kImages == 1 ? 8 : 2)  // so many taps of a lane are under way
  for (int f = 0; f < full; f += kWarpSize) add(f + lane);
  if (full + lane < F) add(full + lane);
  // [/doc:taps]
  // In pairs, quarters, ...: after 5 steps each lane has the whole sum.
  for (int i = 0; i < kImages; ++i) {
    for (int step = 16; step > 0; step /= 2) {
      sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], step);
    }
  }
  if (lane > 0) return;
  for (int i = 0; i < kImages; ++i) {
    const int n = first_n + i;
    const float value = sum[i] + own_bias;
    // Not fmaxf, which turns a NaN into 0.
    if (n < N) output[kImagesFastest ? k * N + n : n * K + k] = relu && value < 0.0f ? 0.0f : value;
  }
}

template <bool kImagesFastest>
static int launch(const LayerCall& c) {
  const int N = c.layer.N;
  const int F = c.layer.C * c.layer.R * c.layer.S;
  const int K = c.layer.K;
  // One image needs no registers for four: then more taps are under way.
  return dispatch<1, kLaneImages>(N == 1 ? 1 : kLaneImages, [&](auto images) {
    // At most one block for each output and group of images: fits.
    const int blocks = ((N - 1) / images.value + 1) * ((K - 1) / kLaneWarps + 1);
    return launch_overlapping(c.overlaps, lanes_kernel<kImagesFastest, images.value>, blocks,
                              kLaneWarps * kWarpSize, 0, static_cast<cudaStream_t>(c.stream),
                              c.input, c.filters, c.output, c.bias, c.relu, N, F, K);
  });
}

// It is made for filters that cover the whole map.
static const char* refuses(const LayerNumbers& layer) {
  const bool covers = layer.R == layer.H && layer.S == layer.W;
  if (covers && layer.padding_h == 0 && layer.padding_w == 0) return nullptr;
  return "it is made for filters that cover the whole map";
}

LayerKernel lanes_nchw() {
  return {.description = "fully connected: a warp per output of up to 4 images",
          .launch = launch<false>,
          .refuses = refuses,
          .can_overlap = true,
          .adds_bias = true,
          .tiles = {{.N = kLaneImages, .K = kLaneWarps}}};
}

LayerKernel lanes_chwn() {
  return {.description = "the same in CHWN",
          .launch = launch<true>,
          .refuses = refuses,
          .can_overlap = true,
          .adds_bias = true,
          .chwn = true,
          .tiles = {{.N = kLaneImages, .K = kLaneWarps}}};
}

}  // namespace halo::network
