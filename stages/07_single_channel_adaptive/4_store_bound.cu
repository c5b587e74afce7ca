// Stage 07, step 4: bound by its stores.
//
// Computes   output[n][k][p][q] = sum over r, s of
//                input[n][p * stride_h - padding_h + r][q * stride_w - padding_w + s] * filters[k][r][s]:
//            one channel, filters of 1 x 1, 3 x 3 or 5 x 5; cells that do not exist are zero.
// Changed    since 3 map_over_sms: no rule of bytes and latencies. A thread loads the window of four to
//            eight outputs into registers, straight from global memory, once; filters pass by,
//            and each costs it a tap read for every four or more products, and whole quads to store.
// Must cost  each output once, as a quad of a row where Q is a multiple of four. The map as often as
//            there are groups of filters, a cell for each thread whose window has it: L1's work. A
//            block's filters once for it, through shared memory.
// Run        ./halo run 07 --variant store_bound
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/harness/overlap.h"
#include "common/planning/window_block.hpp"

namespace halo::single_channel_adaptive {

constexpr int kQuad = 4;

// Floats from one filter's taps in shared memory to the next one's: whole quads, so that four taps are
// one read. A filter of a single tap has nothing to read together.
__host__ __device__ constexpr int pitch_of(int taps) {
  return taps == 1 ? 1 : (taps + kQuad - 1) / kQuad * kQuad;
}

// Preconditions: R = S = kSize; a grid of tiles across x tiles down x (images x groups of filters);
// blocks of block.threads_across x block.threads_down; shared memory holds block.filters filters.
// kColumns = 4: stride 1, Q = W a multiple of four, padding kSize / 2. kRows > 1: stride 1.
template <int kSize, int kRows, int kColumns>  // outputs of a thread: rows x neighbouring columns
__global__ void __launch_bounds__(kMostWindowThreads)
    store_bound_kernel(const float* input,    // [N][H][W]
                       const float* filters,  // [K][R][S]
                       float* output,         // [N][K][P][Q]
                       const float* bias,     // [K], or null
                       bool relu, const LayerNumbers layer, const WindowBlock block) {
  constexpr int kTaps = kSize * kSize;
  constexpr int kPitch = pitch_of(kTaps);
  extern __shared__ float4 on_chip[];               // of a type that is aligned to 16 bytes
  float* taps = reinterpret_cast<float*>(on_chip);  // [block.filters][kPitch]

  const int n = layer.N == 1 ? 0 : blockIdx.z / block.groups;  // a division takes as long as a load
  const int first_k = (blockIdx.z - n * block.groups) * block.filters;
  const int many = min(block.filters, layer.K - first_k);
  const int p = (blockIdx.y * blockDim.y + threadIdx.y) * kRows;
  const int q = (blockIdx.x * blockDim.x + threadIdx.x) * kColumns;
  const bool has_output = p < layer.P && q < layer.Q;

  // Taps and window are under way together: what follows waits for memory once.
  const float* of_block = filters + first_k * kTaps;
  for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < many * kTaps;
       i += blockDim.x * blockDim.y) {
    __pipeline_memcpy_async(taps + i / kTaps * kPitch + i % kTaps, of_block + i, sizeof(float));
  }
  __pipeline_commit();
  let_next_launch_begin();  // where calls overlap; otherwise both do nothing
  wait_for_launches_before();
  // A tile in shared memory would be loaded with fewer requests. But its loops take longer than all
  // of a small layer, and each cell is then in L1 anyway.
  constexpr int kHigh = kRows + kSize - 1, kWide = kColumns + kSize - 1;
  float window[kHigh][kWide];
  const float* map = input + n * layer.H * layer.W;
#pragma unroll
  for (int row = 0; row < kHigh; ++row) {
    const int h = p * layer.stride_h - layer.padding_h + row;
    const bool row_exists = has_output && h >= 0 && h < layer.H;
    if constexpr (kColumns == kQuad) {
      // Three aligned quads have the row: the middle one the cells under the outputs. What is not
      // needed of the others is dropped when it is compiled.
      constexpr int kSide = kSize / 2;
      float4 a = {}, b = {}, c = {};
      if (row_exists) {
        const float4* quad = reinterpret_cast<const float4*>(map + h * layer.W + q);
        if (kSide > 0 && q > 0) a = quad[-1];
        b = quad[0];
        if (kSide > 0 && q + kQuad < layer.W) c = quad[1];
      }
      const float cells[] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
#pragma unroll
      for (int i = 0; i < kWide; ++i) window[row][i] = cells[kQuad - kSide + i];
    } else {
#pragma unroll
      for (int i = 0; i < kWide; ++i) {
        const int w = q * layer.stride_w - layer.padding_w + i;
        window[row][i] = row_exists && w >= 0 && w < layer.W ? map[h * layer.W + w] : 0.0f;
      }
    }
  }
  __pipeline_wait_prior(0);
  __syncthreads();  // all taps are there
  if (!has_output) return;

  float* out = output + ((n * layer.K + first_k) * layer.P + p) * layer.Q + q;
  // [doc:filters]
#pragma unroll(kSize == 5 ? 1 : 2)  // 25 taps more would not fit beside 48 cells
  for (int k = 0; k < many; ++k, out += layer.P * layer.Q) {
    float tap[kTaps];  // read four at a time; all lanes agree
#pragma unroll
    for (int i = 0; i < kTaps / kQuad; ++i) {
      const float4 four = reinterpret_cast<const float4*>(taps + k * kPitch)[i];
      tap[kQuad * i] = four.x, tap[kQuad * i + 1] = four.y;
      tap[kQuad * i + 2] = four.z, tap[kQuad * i + 3] = four.w;
    }
    tap[kTaps - 1] = taps[k * kPitch + kTaps - 1];  // an odd square: fours and one
    // A sum begins with its bias, which is in L1 from the second filter on.
    const float own_bias = bias != nullptr ? bias[first_k + k] : 0.0f;
    float sums[kRows][kColumns];
#pragma unroll
    for (int i = 0; i < kRows * kColumns; ++i) sums[i / kColumns][i % kColumns] = own_bias;
#pragma unroll
    for (int i = 0; i < kTaps; ++i) {
#pragma unroll
      for (int j = 0; j < kRows * kColumns; ++j) {
        const int row = j / kColumns, column = j % kColumns;
        sums[row][column] += window[row + i / kSize][column + i % kSize] * tap[i];
      }
    }
    // [/doc:filters]
    // Nobody reads an output soon: a streaming store lets it leave L2 first.
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      if (row > 0 && p + row >= layer.P) break;
#pragma unroll
      for (float& sum : sums[row]) sum = relu && sum < 0.0f ? 0.0f : sum;  // fmaxf loses NaN
      if constexpr (kColumns == kQuad) {
        __stcs(reinterpret_cast<float4*>(out + row * layer.Q),
               float4{sums[row][0], sums[row][1], sums[row][2], sums[row][3]});
      } else {
        out[row * layer.Q] = sums[row][0];  // parts of sectors, which meet the others in L2
      }
    }
  }
}

template <int kSize>
static auto kernel_of(const WindowBlock& block) {
  if (block.columns == kQuad) {
    if constexpr (kSize > 1) {
      if (block.rows == 2) return store_bound_kernel<kSize, 2, kQuad>;
    }
    return store_bound_kernel<kSize, 1, kQuad>;
  }
  if constexpr (kSize > 1) {
    if (block.rows == 4) return store_bound_kernel<kSize, 4, 1>;
  }
  return store_bound_kernel<kSize, 1, 1>;
}

int store_bound(const LayerCall& call, const WindowBlock& block) {
  LayerNumbers layer = call.layer;
  if (block.one_row) {  // with 1 x 1 filters a plane is one long row, of outputs as of cells
    layer.W = layer.Q = layer.P * layer.Q;
    layer.H = layer.P = 1;
  }
  const auto kernel =
      dispatch<1, 3, 5>(layer.S, [&](auto size) { return kernel_of<size.value>(block); });
  const dim3 threads(block.threads_across, block.threads_down);
  const auto pieces = [](int all, int piece) { return (all - 1) / piece + 1; };
  const dim3 grid(pieces(layer.Q, block.threads_across * block.columns),
                  pieces(layer.P, block.threads_down * block.rows), layer.N * block.groups);
  const size_t floats = block.filters * pitch_of(layer.R * layer.S);
  return launch_overlapping(call.overlaps, kernel, grid, threads, floats * sizeof(float),
                            static_cast<cudaStream_t>(call.stream), call.input, call.filters,
                            call.output, call.bias, call.relu, layer, block);
}

}  // namespace halo::single_channel_adaptive
