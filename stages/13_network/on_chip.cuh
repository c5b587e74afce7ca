// What a block of 4_on_chip.cu does of one layer, on maps in its shared memory. Convolutions have a file of their own.
#pragma once

#include "stages/13_network/on_chip_convolution.cuh"

namespace halo::network {

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

// The largest cell or the average of a window, of which at most rows x columns exist.
template <int kWindow>
__device__ float pool(const float* corner, int pitch, int rows, int columns, bool average) {
  float result = average ? 0.0f : -INFINITY;
#pragma unroll
  for (int i = 0; i < kWindow * kWindow; ++i) {
    if (i / kWindow >= rows || i % kWindow >= columns) continue;
    const float cell = corner[i / kWindow * pitch + i % kWindow];
    result = average ? result + cell : fmaxf(result, cell);
  }
  if (average) result /= min(rows, kWindow) * min(columns, kWindow);
  return result;
}

__device__ float pool(const OnChipStep& step, const float* corner, int pitch, int rows,
                      int columns) {
  switch (step.window) {
    case 1:
      return pool<1>(corner, pitch, rows, columns, step.average);
    case 2:
      return pool<2>(corner, pitch, rows, columns, step.average);
    case 3:
      return pool<3>(corner, pitch, rows, columns, step.average);
  }
  return *corner;  // no pooling: a cell as it is
}

// The block's channels, from first_k on, pooled or as they are, to the next layer's map, with zeros around them; what
// is pooled goes to memory as well.
__device__ void pool(const OnChipStep& step, float* cells, int first_k, int channels,
                     float* pooled) {
  const bool of_sums = step.size > 0;
  const int plane = of_sums ? step.P * step.Q : step.from.plane.value;
  const int pitch = of_sums ? step.Q : step.from.pitch.value;
  const float* const from = cells + (of_sums ? step.own : step.from.begin + first_k * plane);
  float* const to = cells + step.to.begin + first_k * step.to.plane.value;
  for_each_cell(step.to, channels, [&](int i, int k, int p, int q) {
    float value = 0.0f;
    if (k < channels && p >= 0 && p < step.PP && q >= 0 && q < step.PQ) {
      const int h = p * step.stride, w = q * step.stride;
      value = pool(step, from + k * plane + h * pitch + w, pitch, step.P - h, step.Q - w);
      if (step.window > 0) pooled[(k * step.PP + p) * step.PQ + q] = value;
    }
    to[i] = value;
  });
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

}  // namespace halo::network
