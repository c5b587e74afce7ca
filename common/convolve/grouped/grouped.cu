// Layers whose filters see few channels each, depthwise ones among them, and any with dilation.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//                * input[n][g * C/G + c][p * stride_h - padding_h + r * dilation_h]
//                       [q * stride_w - padding_w + s * dilation_w],   g = k / (K/G);
//            ghost cells are zero; a bias and ReLU may follow.
// How        a thread has some rows and columns of outputs of one, four or eight filters of a group. Channel by channel
//            it takes the rows of their window, straight from global memory, and each row serves all outputs
//            that see it. Threads are numbered through over all maps, so that small ones fill warps, those of a filter
//            one after the other, so that a warp's lanes mostly read the same taps. Nothing goes through
//            shared memory and no thread waits for another: of few channels there is little to share, and L1 has it.
// Must cost  each output once. The input, as often as a group has sets of filters, a cell for each thread
//            whose window has it: L1's work, of memory's it is once. Depthwise, 3 x 3: 4 bytes in and 4 out for nine
//            products, so memory decides.
#include <cuda_runtime.h>

#include "common/convolve/grouped/division.hpp"
#include "common/harness/kernel.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

namespace {

constexpr int kQuad = 4;

// A thread's one output of kFilters filters of any size, tap by tap.
template <int kFilters>
__device__ inline void add_any_size(const float* map,         // [channels][H][W]
                                    const float* of_channel,  // [channels][pitch]
                                    int h, int w, const GroupedDivision& layer,
                                    float (&sums)[kFilters]) {
  for (int c = 0; c < layer.channels; ++c, map += layer.H * layer.W, of_channel += layer.pitch) {
    const float* tap = of_channel;
    for (int r = 0; r < layer.R; ++r) {
      const int row = h + r * layer.dilation_h;
      for (int s = 0; s < layer.S; ++s, tap += kFilters) {
        const int column = w + s * layer.dilation_w;
        const bool exists = row >= 0 && row < layer.H && column >= 0 && column < layer.W;
        const float cell = exists ? map[row * layer.W + column] : 0.0f;
        if constexpr (kFilters == 1) {
          sums[0] += cell * tap[0];
        } else {
#pragma unroll
          for (int f = 0; f < kFilters; f += kQuad) {
            const float4 four = *reinterpret_cast<const float4*>(tap + f);
            sums[f] += cell * four.x, sums[f + 1] += cell * four.y;
            sums[f + 2] += cell * four.z, sums[f + 3] += cell * four.w;
          }
        }
      }
    }
  }
}

// Preconditions: as the shape's numbers say, R = S = kSize, both strides kStride and
// both dilations 1, or 0 for any, with kRows = 1. kColumns = 4: kStride = 1, Q = W a multiple of four, padding
// kSize / 2. kColumns = 2: kStride = 2, W even, padding kSize / 2, so that Q = W / 2.
// kOneChannel: layer.channels = 1. (As a constant it made nvcc load less at a time.)
template <int kSize, int kStride, int kFilters, int kRows, int kColumns, bool kOneChannel>
__global__ void __launch_bounds__(kGroupedThreads)
    grouped_kernel(const float* input,   // [N][C][H][W]
                   const float* packed,  // [groups][sets][channels][pitch], in it [tap][kFilters]
                   float* output,        // [N][K][P][Q]
                   const float* bias,    // [K], or null
                   bool relu, const GroupedDivision layer) {
  const int unit = blockIdx.x * blockDim.x + threadIdx.x;
  if (unit >= layer.units) return;
  const int strip = unit / layer.across, map_of_sums = strip / layer.down;
  const int set = map_of_sums / layer.images, n = map_of_sums - set * layer.images.value;
  const int group = set / layer.sets;
  const int own_filter = (set - group * layer.sets.value) * kFilters;
  const int many = min(kFilters, layer.filters - own_filter);
  const int first_filter = group * layer.filters + own_filter;
  const int q = (unit - strip * layer.across.value) * kColumns;
  const int p = (strip - map_of_sums * layer.down.value) * kRows;

  float sums[kRows][kColumns][kFilters];
#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    const float own_bias = bias != nullptr && f < many ? bias[first_filter + f] : 0.0f;
#pragma unroll
    for (int i = 0; i < kRows * kColumns; ++i) sums[i / kColumns][i % kColumns][f] = own_bias;
  }
  wait_for_launches_before();  // where calls overlap; else nothing

  const float* of_channel = packed + 1ll * set * layer.channels * layer.pitch;
  const float* map = input + (n * layer.C + group * layer.channels) * layer.H * layer.W;
  const int h = p * layer.stride_h - layer.padding_h, w = q * layer.stride_w - layer.padding_w;
  if constexpr (kSize == 0) {
    add_any_size<kFilters>(map, of_channel, h, w, layer, sums[0][0]);
  } else {
    constexpr int kTaps = kSize * kSize * kFilters, kPitch = (kTaps + kQuad - 1) / kQuad * kQuad;
    constexpr int kStep = kRows > 1 ? kStride : 1;
    constexpr int kAcross = kColumns == 2 ? kStride : 1;  // from one column of outputs to the next
    constexpr int kHigh = (kRows - 1) * kStep + kSize, kWide = (kColumns - 1) * kAcross + kSize;
    constexpr int kSide = kSize / 2;
    const int step_h = kStride == 0 ? layer.dilation_h : 1;
    const int step_w = kStride == 0 ? layer.dilation_w : 1;
    // So many channels' loads are under way together: as many as registers allow.
    constexpr int kLoaded = kPitch + kHigh * kWide;
    constexpr int kTogether = kOneChannel ? 1 : kLoaded <= 24 ? 4 : kLoaded <= 48 ? 2 : 1;
#pragma unroll(kTogether)
    for (int c = 0; c < layer.channels; ++c, map += layer.H * layer.W, of_channel += kPitch) {
      float taps[kPitch];  // most lanes read the same
#pragma unroll
      for (int i = 0; i < kPitch / kQuad; ++i) {
        const float4 four = reinterpret_cast<const float4*>(of_channel)[i];
        taps[kQuad * i] = four.x, taps[kQuad * i + 1] = four.y;
        taps[kQuad * i + 2] = four.z, taps[kQuad * i + 3] = four.w;
      }
#pragma unroll
      for (int i = 0; i < kHigh; ++i) {
        const int row = h + i * step_h;
        const bool row_exists = row >= 0 && row < layer.H;
        const float* const cells = map + row * layer.W;
        float line[kWide];
        if constexpr (kColumns == kQuad) {
          // Aligned quads: the one under the outputs, and those beside it.
          const float4* const quad = reinterpret_cast<const float4*>(cells + q);
          float4 left = {}, middle = {}, right = {};
          if (row_exists) {
            if (kSide > 0 && q > 0) left = quad[-1];
            middle = quad[0];
            if (kSide > 0 && q + kQuad < layer.W) right = quad[1];
          }
          const float all[] = {left.x,   left.y,   left.z,  left.w,  middle.x, middle.y,
                               middle.z, middle.w, right.x, right.y, right.z,  right.w};
#pragma unroll
          for (int j = 0; j < kWide; ++j) line[j] = all[kQuad - kSide + j];
        } else if constexpr (kColumns == 2) {
          // Aligned pairs, from the first that has a cell of the window.
          constexpr int kBefore = (kSide + 1) / 2 * 2, kPairs = (kBefore - kSide + kWide + 1) / 2;
          float2 pairs[kPairs];
#pragma unroll
          for (int j = 0; j < kPairs; ++j) {
            const int column = kStride * q - kBefore + 2 * j;
            const bool exists = row_exists && column >= 0 && column < layer.W;
            pairs[j] = exists ? *reinterpret_cast<const float2*>(cells + column) : float2{};
          }
#pragma unroll
          for (int j = 0; j < kWide; ++j) {
            const int at = kBefore - kSide + j;
            line[j] = at % 2 == 0 ? pairs[at / 2].x : pairs[at / 2].y;
          }
        } else {
#pragma unroll
          for (int j = 0; j < kWide; ++j) {
            const int column = w + j * step_w;
            line[j] = row_exists && column >= 0 && column < layer.W ? cells[column] : 0.0f;
          }
        }
#pragma unroll
        for (int out = 0; out < kRows; ++out) {
          const int r = i - out * kStep;
          if (r < 0 || r >= kSize) continue;
#pragma unroll
          for (int s = 0; s < kSize; ++s) {
#pragma unroll
            for (int column = 0; column < kColumns; ++column) {
#pragma unroll
              for (int f = 0; f < kFilters; ++f) {
                sums[out][column][f] +=
                    line[column * kAcross + s] * taps[(r * kSize + s) * kFilters + f];
              }
            }
          }
        }
      }
    }
  }

  float* const to = output + ((n * layer.K + first_filter) * layer.P + p) * layer.Q + q;
#pragma unroll
  for (int f = 0; f < kFilters; ++f) {
    if (f >= many) break;
#pragma unroll
    for (int out = 0; out < kRows; ++out) {
      if (out > 0 && p + out >= layer.P) break;
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        float& sum = sums[out][column][f];
        sum = relu && sum < 0.0f ? 0.0f : sum;  // fmaxf loses NaN
      }
      float* const row = to + (f * layer.P + out) * layer.Q;
      if constexpr (kColumns == kQuad) {
        *reinterpret_cast<float4*>(row) =
            float4{sums[out][0][f], sums[out][1][f], sums[out][2][f], sums[out][3][f]};
      } else if (kColumns == 2 && layer.Q % 2 == 0) {
        *reinterpret_cast<float2*>(row) = float2{sums[out][0][f], sums[out][kColumns - 1][f]};
      } else {
        *row = sums[out][0][f];
        if (kColumns == 2 && q + 1 < layer.Q) row[1] = sums[out][kColumns - 1][f];
      }
    }
  }
}

// A thread for each packed tap.
__global__ void pack_kernel(const float* filters,  // [K][channels][R * S]
                            float* packed,         // as grouped_kernel reads it
                            const GroupedDivision layer, const int filters_of_set,
                            const long long floats) {
  const long long i = 1ll * blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= floats) return;
  const int at = i % layer.pitch, c = i / layer.pitch % layer.channels;
  const int set = i / layer.pitch / layer.channels, group = set / layer.sets;
  const int own_filter = (set - group * layer.sets.value) * filters_of_set + at % filters_of_set;
  const int tap = at / filters_of_set, taps = layer.R * layer.S;
  const bool exists = tap < taps && own_filter < layer.filters;
  const int k = group * layer.filters + own_filter;
  packed[i] = exists ? filters[(k * layer.channels + c) * taps + tap] : 0.0f;
}

// The shapes of plan.cpp.
template <int kFilters, bool kOneChannel>
auto kernel_of(const GroupedShape& shape) {
  const auto in_rows = [&](auto size, auto stride, auto rows) {
    return &grouped_kernel<size.value, stride.value, kFilters, rows.value, 1, kOneChannel>;
  };
  const auto in_quads = [&](auto size, auto rows) {
    return &grouped_kernel<size.value, 1, kFilters, rows.value, kQuad, kOneChannel>;
  };
  const auto in_pairs = [&](auto size, auto rows) {
    return &grouped_kernel<size.value, 2, kFilters, rows.value, 2, kOneChannel>;
  };
  using Kernel = decltype(in_quads(Number<1>(), Number<1>()));
  const auto [size, stride, filters, rows, columns] = shape;
  if (size == 0) return in_rows(Number<0>(), Number<0>(), Number<1>());
  if constexpr (kFilters == 1) {
    if (columns == 2 && size == 5) return in_pairs(Number<5>(), Number<2>());
    if (columns == 2 && rows == 2) return in_pairs(Number<3>(), Number<2>());
    if (columns == 2) return in_pairs(Number<3>(), Number<1>());
  }
  if (columns == kQuad) {
    if (size == 1) return in_quads(Number<1>(), Number<1>());
    if constexpr (kFilters == 1) {
      if (size == 5) return in_quads(Number<5>(), Number<2>());
      if (size == 7) return in_quads(Number<7>(), Number<2>());
      if (rows == 4) return in_quads(Number<3>(), Number<4>());
    }
    if constexpr (kFilters < 8) {
      if (rows == 2) return in_quads(Number<3>(), Number<2>());
    }
    return in_quads(Number<3>(), Number<1>());
  }
  const auto of_size = [&](auto size) -> Kernel {
    if (stride == 0) return in_rows(size, Number<0>(), Number<1>());
    if constexpr (size.value > 1) {
      if (stride == 1) return in_rows(size, Number<1>(), Number<4>());
      return in_rows(size, Number<2>(), Number<2>());
    }
    return nullptr;
  };
  if constexpr (kFilters == 1) {
    return dispatch<1, 3, 5, 7>(size, of_size);
  } else {
    return dispatch<1, 3>(size, of_size);
  }
}

}  // namespace

int grouped(const LayerCall& call, const GroupedShape& shape, const GroupedDivision& division) {
  return dispatch<1, 4, 8>(shape.filters, [&](auto filters) -> int {
    constexpr int kThreads = kGroupedThreads;
    const dim3 grid((division.units - 1) / kThreads + 1);
    auto kernel = kernel_of<filters.value, false>(shape);
    if constexpr (filters.value == 1) {
      if (division.channels == 1) kernel = kernel_of<1, true>(shape);
    }
    return launch_overlapping(call.overlaps, kernel, grid, dim3(kThreads), 0,
                              static_cast<cudaStream_t>(call.stream), call.input, call.packed,
                              call.output, call.bias, call.relu, division);
  });
}

int pack_grouped(const float* filters, float* packed, const GroupedShape& shape,
                 const GroupedDivision& division, long long floats) {
  constexpr int kThreads = 256;
  const auto blocks = static_cast<unsigned>((floats - 1) / kThreads + 1);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, division, shape.filters, floats);
  return cudaGetLastError();
}

}  // namespace halo::convolve
