// Stage 13, step 6: a fully connected layer for one image, at the speed of the memory.
//
// Computes   output[k] = sum over f of input[f] * filters[k][f], and bias and ReLU.
// Changed    since 3 fully_connected_lanes: a lane reads 16 bytes at a time, eight times before it adds any of them up. So
//            few warps have enough under way: 31 of an SM 127 KB, and eight, a block's, 33 KB. And since filters depend on
//            no launch, where launches overlap the first of them come while the kernel before ends.
// Must cost  the filters once, the image once for each output, from L1. Features that are no fours: 4 bytes at a time.
// Run        ./halo run 13 --network cifar10 --batch 1
#include <cuda_runtime.h>

#include <type_traits>

#include "common/harness/overlap.h"

namespace halo::network {

constexpr int kRowWarps = 8;  // warps, and so outputs, of a block

// Preconditions: blocks of kRowWarps * 32 threads, one for each kRowWarps outputs. Taps is float, or float4 where the
// features are fours.
template <class Taps>
__global__ void __launch_bounds__(kRowWarps* kWarpSize)
    rows_kernel(const Taps* input,                 // [count]
                const Taps* __restrict__ filters,  // [K][count]
                float* output,                     // [K]
                const float* __restrict__ bias,    // [K], or null
                bool relu, int count, int K) {
  const int k = blockIdx.x * kRowWarps + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (k >= K) return;  // the whole warp

  // [doc:rows]
  constexpr int kAhead = 8;
  const Taps* const own = filters + k * count;
  Taps taps[kAhead];
  const auto fetch = [&](int first) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int f = first + i * kWarpSize + lane;
      if (f < count) taps[i] = own[f];
    }
  };
  fetch(0);
  const float own_bias = bias != nullptr ? bias[k] : 0.0f;
  let_next_launch_begin();     // its first filters may come now, too
  wait_for_launches_before();  // where calls overlap; else nothing
  float sum = 0.0f;
  for (int first = 0; first < count; first += kAhead * kWarpSize) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int f = first + i * kWarpSize + lane;
      if (f >= count) continue;
      const Taps cells = input[f], tap = taps[i];
      if constexpr (std::is_same_v<Taps, float>) {
        sum += cells * tap;
      } else {
        sum += cells.x * tap.x + cells.y * tap.y + cells.z * tap.z + cells.w * tap.w;
      }
    }
    fetch(first + kAhead * kWarpSize);
  }
  // [/doc:rows]
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane > 0) return;
  sum += own_bias;
  output[k] = relu && sum < 0.0f ? 0.0f : sum;  // not fmaxf, which turns a NaN into 0
}

template <class Taps>
static int launch(const LayerCall& c) {
  constexpr int kWidth = sizeof(Taps) / sizeof(float);
  const int count = c.layer.C * c.layer.R * c.layer.S / kWidth, K = c.layer.K;
  return launch_overlapping(
      c.overlaps, rows_kernel<Taps>, (K - 1) / kRowWarps + 1, kRowWarps * kWarpSize, 0,
      static_cast<cudaStream_t>(c.stream), reinterpret_cast<const Taps*>(c.input),
      reinterpret_cast<const Taps*>(c.filters), c.output, c.bias, c.relu, count, K);
}

static int launch_widest(const LayerCall& c) {
  return c.layer.C * c.layer.R * c.layer.S % 4 == 0 ? launch<float4>(c) : launch<float>(c);
}

static const char* refuses(const LayerNumbers& layer) {
  if (layer.N > 1) return "it is made for one image";
  const bool covers = layer.R == layer.H && layer.S == layer.W;
  if (covers && layer.padding_h == 0 && layer.padding_w == 0) return nullptr;
  return "it is made for filters that cover the whole map";
}

LayerKernel rows() {
  return {.description = "fully connected: a warp per output of one image, 16 bytes per lane",
          .launch = launch_widest,
          .refuses = refuses,
          .can_overlap = true,
          .adds_bias = true,
          .tiles = {{.C = 256, .K = kRowWarps}}};
}

}  // namespace halo::network
