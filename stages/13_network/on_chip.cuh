// What a block does of one layer, on maps in its shared memory (4_on_chip.cu).
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "stages/13_network/on_chip.hpp"

namespace halo::network {

// All behind the packed filters is zeros at first: frames, and what fills up the last four cells. But not what other blocks
// hand over of the first step's map: it comes with their frames, and may come before.
__device__ inline void make_frames(const OnChip& net, float4* quads, int rank) {
  const OnChipStep& step = net.step[0];
  const bool maps = step.size != 0;  // else single outputs
  const int first_k = rank * step.share, many = max(min(step.share, step.K - first_k), 0);
  const int begin = step.to.begin / 4, own = begin + first_k * step.to.plane / 4;
  const int own_end = own + (many * step.to.plane + 3) / 4;
  const int end = maps ? begin + (step.K * step.to.plane + 3) / 4 : begin;
#pragma unroll 1
  for (int i = net.packed_quads + threadIdx.x; i < net.quads; i += kOnChipThreads) {
    if (i >= begin && i < end && (i < own || i >= own_end)) continue;
    quads[i] = make_float4(0, 0, 0, 0);
  }
}

// Adds up what `parts` neighbouring lanes have of the same outputs. Each time a lane gives its neighbour one half of what
// it has, and gets the other half: seven exchanges for eight lanes, and each is left with one output to store. (If
// all added up everything it were 24, and one lane had eight.) Returns how many are left: sum[0], ...
__device__ inline int add_up(float (&sum)[kOnChipOutputs], int part, int parts) {
  int outputs = kOnChipOutputs;
#pragma unroll
  for (int half = kOnChipOutputs / 2; half > 0; half /= 2) {
    const int distance = parts * half / kOnChipOutputs;  // parts / 2, / 4, / 8
    if (distance == 0) break;
    const bool upper = part & distance;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float give = upper ? sum[i] : sum[i + half];
      const float keep = upper ? sum[i + half] : sum[i];
      sum[i] = keep + __shfl_xor_sync(0xffffffffu, give, distance);
    }
    outputs = half;
  }
  return outputs;
}

// The block's filters over the map. A thread has 4 rows of 2 columns; lanes that have parts of the same sums are neighbours.
template <int kSize>
__device__ void convolve(const OnChipStep& step, float* cells, int filters) {
  constexpr int kPitch = (kSize * kSize + 3) / 4 * 4;  // on_chip_tap_pitch(kSize)
  constexpr int kPairs = (kSize + 1) / 2;
  const int lane = threadIdx.x % kWarpSize;
  const int across = (step.Q + kOnChipColumns - 1) / kOnChipColumns;
  const int down = (step.P + kOnChipRows - 1) / kOnChipRows;
  const int items = filters * down * across * step.parts;
  for (int first = threadIdx.x - lane; first < items; first += kOnChipThreads) {
    const int item = min(first + lane, items - 1);  // all lanes of a warp go along
    const int part = item & (step.parts - 1), tile = item >> (31 - __clz(step.parts));
    const int line = tile / step.by_across, q = kOnChipColumns * (tile - line * across);
    const int k = line / step.by_down, p = kOnChipRows * (line - k * down);
    float sum[kOnChipOutputs] = {};
    for (int c = part; c < step.C; c += step.parts) {
      const float* corner = cells + step.from.begin + c * step.from.plane + p * step.from.pitch + q;
      const float* taps = cells + step.taps + k * step.row + c * kPitch;
      float2 window[kOnChipRows + kSize - 1][kPairs];
      float4 tap[kPitch / 4];
#pragma unroll
      for (int y = 0; y < kOnChipRows + kSize - 1; ++y) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          window[y][i] = reinterpret_cast<const float2*>(corner + y * step.from.pitch)[i];
        }
      }
#pragma unroll
      for (int i = 0; i < kPitch / 4; ++i) tap[i] = reinterpret_cast<const float4*>(taps)[i];
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i) {
        const float one = reinterpret_cast<const float*>(tap)[i];
#pragma unroll
        for (int y = 0; y < kOnChipRows; ++y) {
          const float* row = reinterpret_cast<const float*>(window[y + i / kSize]) + i % kSize;
          sum[y * kOnChipColumns] += row[0] * one;
          sum[y * kOnChipColumns + 1] += row[1] * one;
        }
      }
    }
    const int outputs = add_up(sum, part, step.parts);  // that are this lane's
    if (first + lane >= items) continue;
    const float bias = cells[step.taps + (k + 1) * step.row - 4];
    float* const to = cells + step.own + k * step.P * step.Q;
#pragma unroll
    for (int i = 0; i < kOnChipOutputs; ++i) {
      const int at = part * outputs + i;
      const int row = p + at / kOnChipColumns, column = q + at % kOnChipColumns;
      if (i >= outputs || row >= step.P || column >= step.Q) continue;
      const float value = sum[i] + bias;
      to[row * step.Q + column] = step.relu && value < 0.0f ? 0.0f : value;  // NaN stays
    }
  }
}

__device__ void convolve(const OnChipStep& step, float* cells, int filters) {
  if (step.size == 1) convolve<1>(step, cells, filters);
  if (step.size == 3) convolve<3>(step, cells, filters);
  if (step.size == 5) convolve<5>(step, cells, filters);
}

// The outputs of a fully connected layer, a warp each, or two at a time where there are more than warps: then both wait
// for shared memory and for each other's lanes together. use(k, value), for all lanes.
template <class Use>
__device__ void connect(const OnChipStep& step, const float* cells, int filters, Use use) {
  const int lane = threadIdx.x % kWarpSize;
  const float4* map = reinterpret_cast<const float4*>(cells + step.from.begin);
  constexpr int kWarps = kOnChipThreads / kWarpSize;
  for (int k = threadIdx.x / kWarpSize; k < filters; k += 2 * kWarps) {
    const int outputs = k + kWarps < filters ? 2 : 1;
    const float* const row[2] = {cells + step.taps + k * step.row,
                                 cells + step.taps + (k + kWarps) * step.row};
    float sum[2] = {};
#pragma unroll 4
    for (int f = lane; f < step.row / 4 - 1; f += kWarpSize) {
      const float4 cell = map[f];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (i >= outputs) break;
        const float4 tap = reinterpret_cast<const float4*>(row[i])[f];
        sum[i] += tap.x * cell.x + tap.y * cell.y + tap.z * cell.z + tap.w * cell.w;
      }
    }
#pragma unroll
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
      sum[0] += __shfl_xor_sync(0xffffffffu, sum[0], distance);
      sum[1] += __shfl_xor_sync(0xffffffffu, sum[1], distance);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (i >= outputs) break;
      sum[i] += row[i][step.row - 4];
      use(k + i * kWarps, step.relu && sum[i] < 0.0f ? 0.0f : sum[i]);  // NaN stays
    }
  }
}

// The largest cell or the average of a window, of which rows x columns exist.
template <int kWindow>  // 0: a cell as it is
__device__ float pool(const float* corner, int pitch, int rows, int columns, bool average) {
  if constexpr (kWindow == 0) {
    return *corner;
  } else {
    float result = average ? 0.0f : -INFINITY;
#pragma unroll
    for (int i = 0; i < kWindow * kWindow; ++i) {
      if (i / kWindow >= rows || i % kWindow >= columns) continue;
      const float cell = corner[i / kWindow * pitch + i % kWindow];
      result = average ? result + cell : fmaxf(result, cell);
    }
    if (average) result /= rows * columns;
    return result;
  }
}

// The block's channels, from first_k on, pooled or as they are, to the next layer's map.
template <int kWindow>
__device__ void pool(const OnChipStep& step, float* cells, int first_k, int channels) {
  const bool of_sums = step.size > 0;
  const int plane = of_sums ? step.P * step.Q : step.from.plane;
  const int pitch = of_sums ? step.Q : step.from.pitch;
  const float* from = cells + (of_sums ? step.own : step.from.begin + first_k * plane);
  float* to = cells + step.to.begin + step.to.first + first_k * step.to.plane;
#pragma unroll 1  // it hardly ever has a second turn, and four turns' code would push other layers' out of the cache
  for (int i = threadIdx.x; i < channels * step.PP * step.PQ; i += kOnChipThreads) {
    const int line = i / step.by_PQ, q = i - line * step.PQ;
    const int k = line / step.by_PP, p = line - k * step.PP;
    const int h = p * step.stride, w = q * step.stride;
    const float value =
        pool<kWindow>(from + k * plane + h * pitch + w, pitch, min(kWindow, step.P - h),
                      min(kWindow, step.Q - w), step.average);
    to[k * step.to.plane + p * step.to.pitch + q] = value;
  }
}

__device__ void pool(const OnChipStep& step, float* cells, int first_k, int channels) {
  if (step.window == 0) pool<0>(step, cells, first_k, channels);
  if (step.window == 1) pool<1>(step, cells, first_k, channels);
  if (step.window == 2) pool<2>(step, cells, first_k, channels);
  if (step.window == 3) pool<3>(step, cells, first_k, channels);
}

// The block's channels of a map, frames and all, to the same place in all other blocks: a warp a block. (A thread that
// stored its cells in all of them had up to fifteen stores in turn.)
template <int kBlocks>
__device__ void hand_over(float4* own, int count, int rank) {
  const auto cluster = cooperative_groups::this_cluster();
  const int lane = threadIdx.x % kWarpSize;
  constexpr int kWarps = kOnChipThreads / kWarpSize;
  for (int other = 1 + threadIdx.x / kWarpSize; other < kBlocks; other += kWarps) {
    float4* const there = cluster.map_shared_rank(own, (rank + other) % kBlocks);
    for (int q = lane; q < count; q += kWarpSize) there[q] = own[q];
  }
}

// By one warp.
__device__ void softmax(const float* logits, float* output, int categories) {
  const int c = threadIdx.x;
  const float logit = c < categories ? logits[c] : -INFINITY;
  float largest = logit;
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
  }
  const float power = c < categories ? expf(logit - largest) : 0.0f;
  float sum = power;
#pragma unroll
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (c < categories) output[c] = power / sum;
}

// What the block has found of this step, for whoever wants to look at it: from where it still lies on chip. The last
// warps first: behind the last step the first one has the softmax to do.
__device__ void store(const OnChipStep& step, const float* cells, int rank, int n) {
  const int first_k = rank * step.share, many = min(step.share, step.K - first_k);
  const int plane = step.P * step.Q;
  const float* const maps = cells + step.to.begin + first_k * step.to.plane;
  const float* const sums = step.size > 0 ? cells + step.own : maps;
  float* const to = step.sums + (n * step.K + first_k) * plane;
  const int first = kOnChipThreads - 1 - threadIdx.x;
#pragma unroll 1
  for (int j = first; step.size >= 0 && j < many * plane; j += kOnChipThreads) {
    to[j] = sums[j];
  }
  const int pooled = step.window > 0 ? many * step.PP * step.PQ : 0;
  float* const pooled_to = step.pooled + (n * step.K + first_k) * step.PP * step.PQ;
#pragma unroll 1
  for (int j = first; j < pooled; j += kOnChipThreads) {
    const int line = j / step.by_PQ, k = line / step.by_PP;
    const int row = (line - k * step.PP) * step.to.pitch + j - line * step.PQ;
    pooled_to[j] = maps[step.to.first + k * step.to.plane + row];
  }
}

}  // namespace halo::network
