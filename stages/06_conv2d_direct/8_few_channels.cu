// Stage 06, step 8: the window of all channels in registers.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            two to four channels; ghost cells are zero.
// Changed    since 7 filter_pieces: with so few channels the whole window of an output fits into a thread's
//            registers. So the loops are swapped: a thread loads the windows of up to eight outputs
//            once, straight from global memory, and the filters pass by, one after the other. Products and
//            stores are then mixed evenly, instead of a long sum and all stores after it.
// Must cost  each output once, as a quad of a row where Q is a multiple of four and there is no stride. The
//            input as often as there are groups of filters, a cell for each thread whose window has it:
//            L1's work. A block's filters once for it, through shared memory.
// Run        ./halo run 06 --variant few_channels --layer 32-1-3-16-3
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "common/planning/window_block.hpp"

namespace halo::conv2d_direct {

constexpr int kQuad = 4;

// Floats from one filter's taps in shared memory to the next one's: whole quads, so that four taps are
// one read.
__host__ __device__ constexpr int pitch_of(int taps) { return (taps + kQuad - 1) / kQuad * kQuad; }

// Preconditions: C = kChannels, R = S = kSize; kStride is the stride, down and across, or 0 for any and
// kRows = 1; a grid of tiles across x tiles down x (images x groups of filters); blocks of
// block.threads_across x block.threads_down; shared memory holds block.filters filters.
// kColumns = 4: kStride = 1, Q = W a multiple of four, padding kSize / 2.
template <int kChannels, int kSize, int kStride, int kRows, int kColumns>
__global__ void __launch_bounds__(kMostWindowThreads)
    few_channels_kernel(const float* input,    // [N][C][H][W]
                        const float* filters,  // [K][C][R][S]
                        float* output,         // [N][K][P][Q]
                        const float* bias,     // [K], or null
                        bool relu, const LayerNumbers layer, const WindowBlock block) {
  constexpr int kArea = kSize * kSize, kTaps = kChannels * kArea;
  constexpr int kPitch = pitch_of(kTaps);
  extern __shared__ float4 on_chip[];               // of a type that is aligned to 16 bytes
  float* taps = reinterpret_cast<float*>(on_chip);  // [block.filters][kPitch]

  const int n = layer.N == 1 ? 0 : blockIdx.z / block.groups;
  const int first_k = (blockIdx.z - n * block.groups) * block.filters;
  const int many = min(block.filters, layer.K - first_k);
  const int p = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  const int q = (blockIdx.x * blockDim.x + threadIdx.x) * kColumns;
  const bool has_output = p < layer.P && q < layer.Q;

  // Taps and windows are under way together.
  const float* of_block = filters + first_k * kTaps;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < many * kTaps;
       i += blockDim.x * blockDim.y) {
    __pipeline_memcpy_async(taps + i / kTaps * kPitch + i % kTaps, of_block + i, sizeof(float));
  }
  __pipeline_commit();
  let_next_launch_begin();  // where calls overlap; otherwise both do nothing
  wait_for_launches_before();
  constexpr int kHigh = (kRows - 1) * kStride + kSize, kWide = kColumns + kSize - 1;
  float window[kChannels][kHigh][kWide];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    const float* map = input + (n * kChannels + c) * layer.H * layer.W;
#pragma unroll
    for (int row = 0; row < kHigh; ++row) {
      const int h = p * layer.stride_h - layer.padding_h + row;
      const bool row_exists = has_output && h >= 0 && h < layer.H;
      float4 middle = {};  // the cells under four outputs: an aligned quad
      if constexpr (kColumns == kQuad) {
        if (row_exists) middle = reinterpret_cast<const float4*>(map + h * layer.W + q)[0];
      }
      const float cells[] = {middle.x, middle.y, middle.z, middle.w};
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        const int w = q * layer.stride_w - layer.padding_w + i;
        if (kColumns == kQuad && i >= kSize / 2 && i < kSize / 2 + kQuad) {
          window[c][row][i] = cells[(i - kSize / 2) % kQuad];
        } else {
          window[c][row][i] = row_exists && w >= 0 && w < layer.W ? map[h * layer.W + w] : 0.0f;
        }
      }
    }
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // all taps are there
  if (!has_output) return;

  float* out = output + ((n * layer.K + first_k) * layer.P + p) * layer.Q + q;
#pragma unroll 1
  for (int k = 0; k < many; ++k, out += layer.P * layer.Q) {
    const float* of_filter = taps + k * kPitch;
    float tap[kTaps];  // all lanes agree
#pragma unroll
    for (int i = 0; i < kTaps / kQuad; ++i) {
      const float4 four = reinterpret_cast<const float4*>(of_filter)[i];
      tap[kQuad * i] = four.x, tap[kQuad * i + 1] = four.y;
      tap[kQuad * i + 2] = four.z, tap[kQuad * i + 3] = four.w;
    }
#pragma unroll
    for (int i = kTaps / kQuad * kQuad; i < kTaps; ++i) tap[i] = of_filter[i];
    // A sum begins with its bias, which is in L1 from the second filter on.
    const float own_bias = bias != nullptr ? bias[first_k + k] : 0.0f;
    // [doc:filters]
    float sums[kRows][kColumns];
#pragma unroll
    for (int i = 0; i < kRows * kColumns; ++i) sums[i / kColumns][i % kColumns] = own_bias;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
      const int c = i / kArea, r = i / kSize % kSize, s = i % kSize;
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        const float* cells = window[c][row * kStride + r] + s;
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          sums[row][column] += cells[column] * tap[i];
        }
      }
    }
    // [/doc:filters]
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (row > 0 && p + row >= layer.P) break;
#pragma unroll
      for (float& sum : sums[row]) sum = relu && sum < 0.0f ? 0.0f : sum;  // fmaxf loses NaN
      float* to = out + row * layer.Q;
      if constexpr (kColumns == kQuad) {  // streaming: nobody reads an output soon
        __stcs(reinterpret_cast<float4*>(to),
               float4{sums[row][0], sums[row][1], sums[row][2], sums[row][3]});
      } else {
        *to = sums[row][0];  // parts of sectors, which had better meet their other parts in L2
      }
    }
  }
}

// The shapes of window_plan.cpp. Of 5 x 5 only a picture's three channels have some.
template <int kChannels>
static auto kernel_of(int size, const WindowBlock& block) {
  if constexpr (kChannels == 3) {
    if (size == 5) {
      return block.columns == kQuad ? few_channels_kernel<3, 5, 1, 1, kQuad>
                                    : few_channels_kernel<3, 5, 0, 1, 1>;
    }
  }
  if (block.columns == kQuad) return few_channels_kernel<kChannels, 3, 1, 2, kQuad>;
  return block.rows == 3 ? few_channels_kernel<kChannels, 3, 2, 3, 1>
                         : few_channels_kernel<kChannels, 3, 0, 1, 1>;
}

int few_channels(const LayerCall& call, const WindowBlock& block) {
  const LayerNumbers& layer = call.layer;
  const auto kernel = dispatch<2, 3, 4>(
      layer.C, [&](auto channels) { return kernel_of<channels.value>(layer.S, block); });
  const dim3 threads(block.threads_across, block.threads_down);
  const auto pieces = [](int all, int piece) { return (all - 1) / piece + 1; };
  const dim3 grid(pieces(layer.Q, block.threads_across * block.columns),
                  pieces(layer.P, block.threads_down * block.rows), layer.N * block.groups);
  const size_t floats = block.filters * pitch_of(layer.C * layer.R * layer.S);
  return launch_overlapping(call.overlaps, kernel, grid, threads, floats * sizeof(float),
                            static_cast<cudaStream_t>(call.stream), call.input, call.filters,
                            call.output, call.bias, call.relu, layer, block);
}

}  // namespace halo::conv2d_direct
