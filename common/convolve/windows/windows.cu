// Windows in registers, while filters go by: layers of one to four channels.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero; a bias and ReLU may follow. One channel with filters of 1 x 1, 3 x 3
//            or 5 x 5; two to four with 3 x 3, three also with 5 x 5.
// How        with so few channels the whole window of an output fits into a thread's registers. So a
//            thread loads the windows of up to eight outputs once, straight from global memory, and the
//            filters go by, one after the other: a tap that is read serves all of them. Products and
//            stores are then mixed evenly, instead of a long sum and all stores after it.
// Must cost  each output once, as a quad of a row where Q is a multiple of four and there is no stride. The
//            input as often as there are groups of filters, a cell for each thread whose window has it:
//            L1's work. A block's filters once for it, through shared memory.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/windows/block.hpp"
#include "common/harness/overlap.h"

namespace halo::convolve {

constexpr int kQuad = 4;

// Floats from one filter's taps in shared memory to the next one's: whole quads, so that four taps are
// one read. A filter of a single tap has nothing to read together.
__host__ __device__ constexpr int pitch_of(int taps) {
  return taps == 1 ? 1 : (taps + kQuad - 1) / kQuad * kQuad;
}

// The cells that the kRows x kColumns outputs of a thread see in one channel. kStride 0: any.
template <int kChannels, int kSize, int kStride, int kRows, int kColumns>
struct WindowOf {
  static constexpr int kHigh = (kRows - 1) * kStride + kSize, kWide = kColumns + kSize - 1;
  static constexpr int kSide = kSize / 2;  // cells on either side of those under the outputs

  // `plane` is the image's channel, of all; p and q are the first output.
  __device__ static void load(const float* input, int plane, const LayerNumbers& layer, int p,
                              int q, bool has_output, float (&window)[kHigh][kWide]) {
    const float* map = input + plane * layer.H * layer.W;
#pragma unroll
    for (int row = 0; row < kHigh; ++row) {
      const int h = p * layer.stride_h - layer.padding_h + row;
      const bool row_exists = has_output && h >= 0 && h < layer.H;
      // Aligned quads: the one under the outputs, and of one channel those beside it. What is not
      // needed of these is dropped when it is compiled.
      float4 left = {}, middle = {}, right = {};
      if constexpr (kColumns == kQuad) {
        if (row_exists) {
          const float4* quad = reinterpret_cast<const float4*>(map + h * layer.W + q);
          if (kChannels == 1 && kSide > 0 && q > 0) left = quad[-1];
          middle = quad[0];
          if (kChannels == 1 && kSide > 0 && q + kQuad < layer.W) right = quad[1];
        }
      }
      const float cells[] = {left.x,   left.y,   left.z,  left.w,  middle.x, middle.y,
                             middle.z, middle.w, right.x, right.y, right.z,  right.w};
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        const bool is_under = i >= kSide && i < kSide + kQuad;
        if (kColumns == kQuad && (kChannels == 1 || is_under)) {
          window[row][i] = cells[kQuad - kSide + i];
        } else {
          const int w = q * layer.stride_w - layer.padding_w + i;
          window[row][i] = row_exists && w >= 0 && w < layer.W ? map[h * layer.W + w] : 0.0f;
        }
      }
    }
  }
};

// Preconditions: C = kChannels, R = S = kSize; kStride is the stride, down and across, or 0 for any and
// kRows = 1; a grid of tiles across x tiles down x (images x groups of filters); blocks of
// block.threads_across x block.threads_down; shared memory holds block.filters filters.
// kColumns = 4: kStride = 1, Q = W a multiple of four, padding kSize / 2.
template <int kChannels, int kSize, int kStride, int kRows, int kColumns>
__global__ void __launch_bounds__(kMostWindowThreads)
    windows_kernel(const float* input,    // [N][C][H][W]
                   const float* filters,  // [K][C][R][S]
                   float* output,         // [N][K][P][Q]
                   const float* bias,     // [K], or null
                   bool relu, const LayerNumbers layer, const WindowBlock block) {
  constexpr int kArea = kSize * kSize, kTaps = kChannels * kArea;
  constexpr int kPitch = pitch_of(kTaps);
  extern __shared__ float4 on_chip[];               // of a type that is aligned to 16 bytes
  float* taps = reinterpret_cast<float*>(on_chip);  // [block.filters][kPitch]

  const int n = layer.N == 1 ? 0 : blockIdx.z / block.groups;  // a division takes as long as a load
  const int first_k = (blockIdx.z - n * block.groups) * block.filters;
  const int many = min(block.filters, layer.K - first_k);
  const int p = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  const int q = (blockIdx.x * blockDim.x + threadIdx.x) * kColumns;
  const bool has_output = p < layer.P && q < layer.Q;

  // Taps and windows are on their way together: what follows waits for memory once.
  const float* of_block = filters + first_k * kTaps;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < many * kTaps;
       i += blockDim.x * blockDim.y) {
    __pipeline_memcpy_async(taps + i / kTaps * kPitch + i % kTaps, of_block + i, sizeof(float));
  }
  __pipeline_commit();
  wait_for_launches_before();
  // A tile in shared memory would be loaded with fewer requests. But its loops take longer than all
  // of a small layer, and each cell is then in L1 anyhow.
  using Window = WindowOf<kChannels, kSize, kStride, kRows, kColumns>;
  float window[kChannels][Window::kHigh][Window::kWide];
#pragma unroll
  for (int c = 0; c < kChannels; ++c) {
    Window::load(input, n * kChannels + c, layer, p, q, has_output, window[c]);
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // all taps are there
  let_next_launch_begin();
  if (!has_output) return;

  float* out = output + ((n * layer.K + first_k) * layer.P + p) * layer.Q + q;
  // Two filters at a time, where the taps of both fit beside the window.
#pragma unroll(kChannels == 1 && kSize < 5 ? 2 : 1)
  for (int k = 0; k < many; ++k, out += layer.P * layer.Q) {
    // [doc:taps]
    const float* of_filter = taps + k * kPitch;
    float tap[kTaps];  // read four at a time; all lanes agree
#pragma unroll
    for (int i = 0; i < kTaps / kQuad; ++i) {
      const float4 four = reinterpret_cast<const float4*>(of_filter)[i];
      tap[kQuad * i] = four.x, tap[kQuad * i + 1] = four.y;
      tap[kQuad * i + 2] = four.z, tap[kQuad * i + 3] = four.w;
    }
#pragma unroll
    for (int i = kTaps / kQuad * kQuad; i < kTaps; ++i) tap[i] = of_filter[i];
    // [/doc:taps]
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

// The shapes of plan.cpp.
template <int kSize>
static auto one_channel_kernel(const WindowBlock& block) {
  if constexpr (kSize > 1) {
    if (block.rows == 2) return windows_kernel<1, kSize, 1, 2, kQuad>;
    if (block.rows == 4) return windows_kernel<1, kSize, 1, 4, 1>;
  }
  return block.columns == kQuad ? windows_kernel<1, kSize, 1, 1, kQuad>
                                : windows_kernel<1, kSize, 0, 1, 1>;
}

template <int kChannels>
static auto kernel_of(int size, const WindowBlock& block) {
  if constexpr (kChannels == 1) {
    return dispatch<1, 3, 5>(size, [&](auto of) { return one_channel_kernel<of.value>(block); });
  } else {
    if constexpr (kChannels == 3) {
      if (size == 5) {
        return block.columns == kQuad ? windows_kernel<3, 5, 1, 1, kQuad>
                                      : windows_kernel<3, 5, 0, 1, 1>;
      }
    }
    if (block.columns == kQuad) return windows_kernel<kChannels, 3, 1, 2, kQuad>;
    return block.rows == 3 ? windows_kernel<kChannels, 3, 2, 3, 1>
                           : windows_kernel<kChannels, 3, 0, 1, 1>;
  }
}

int windows(const LayerCall& call, const WindowBlock& block) {
  LayerNumbers layer = call.layer;
  if (block.one_row) {  // of 1 x 1 filters a plane's outputs are numbered through, as its cells are
    layer.W = layer.Q = layer.P * layer.Q;
    layer.H = layer.P = 1;
  }
  const auto kernel = dispatch<1, 2, 3, 4>(
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

}  // namespace halo::convolve
