// What a block does of one layer, on maps in its shared memory (4_on_chip.cu).
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cuda/ptx>

#include "stages/13_network/on_chip.hpp"

namespace halo::network {

namespace ptx = cuda::ptx;

__device__ inline int channels_of(const OnChipStep& step, int rank) {
  return max(min(step.share, step.K - rank * step.share), 0);
}

// Calls use(i, c, h, w) for the i-th float of so many channels of a map: rows and columns of its frame are below 0, or
// from the map's own numbers on; with what fills up a quad, c may be `channels`.
template <class Use>
__device__ void for_each_cell(const OnChipMap& map, int channels, Use use) {
  const int end = (channels * map.plane.value + 3) / 4 * 4;
#pragma unroll 1  // it hardly ever has a second turn, and four turns' code would push other layers' out of the cache
  for (int i = threadIdx.x; i < end; i += kOnChipThreads) {
    const int c = i / map.plane, in_plane = i - c * map.plane.value;
    const int row = in_plane / map.pitch;
    use(i, c, row - map.above, in_plane - row * map.pitch.value - map.left);
  }
}

// An image to the first layer's map, with zeros around it.
__device__ inline void fetch(const float* image,  // [C][H][W]
                             const OnChip& net, float* cells) {
  float* const map = cells + net.input.begin;
  for_each_cell(net.input, net.C, [&](int i, int c, int h, int w) {
    if (c < net.C && h >= 0 && h < net.H && w >= 0 && w < net.W) {
      __pipeline_memcpy_async(map + i, image + (c * net.H + h) * net.W + w, sizeof(float));
    } else {
      map[i] = 0.0f;
    }
  });
}

// A barrier for each step that is complete when this block has got all that it is sent: of a map the channels of other
// blocks, of single outputs all of them, since each block sends itself its own too. By the last warp, a lane per step.
__device__ inline void expect_cells(const OnChip& net, int rank,
                                    std::uint64_t* full) {  // [kOnChipSteps]
  const int i = static_cast<int>(threadIdx.x) - (kOnChipThreads - kWarpSize);
  if (i < 0 || i >= net.count) return;
  const OnChipStep& step = net.step[i];
  const auto quads_of = [&](int channels) { return (channels * step.to.plane.value + 3) / 4; };
  const int floats =
      step.size == 0 ? step.K : 4 * (quads_of(step.K) - quads_of(channels_of(step, rank)));
  ptx::mbarrier_init(full + i, 1);
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full + i,
                                 floats * sizeof(float));
}

// Zeros that fill up the last quad of single outputs: one lane each, one float after the other.
__device__ inline void fill_up(const OnChip& net, float* cells) {
  if (threadIdx.x >= net.count) return;
  const OnChipStep& step = net.step[threadIdx.x];
  if (step.size != 0) return;
  for (int k = step.K; k % 4 != 0; ++k) cells[step.to.begin + k] = 0.0f;
}

// Adds up what 2^parts_bits neighbouring lanes have of the same outputs. Each time a lane gives its neighbour one half of
// what it has, and gets the other half: seven exchanges for eight lanes and outputs, and each is left with one output
// to store. (If all added up everything it were 24, and one lane had eight.) With more lanes than outputs several
// are left with the same one.
template <int kOutputs>
__device__ void add_up(float (&sum)[kOutputs], int part, int parts_bits) {
  int half = kOutputs / 2;
#pragma unroll
  for (int level = 0; level < kMostPartsBits; ++level, half /= 2) {
    if (level >= parts_bits) break;
    const int distance = 1 << (parts_bits - 1 - level);
    const bool upper = half > 0 && (part & distance);
#pragma unroll
    for (int i = 0; i < max(half, 1); ++i) {
      const float give = upper ? sum[i] : sum[i + half];
      const float keep = upper ? sum[i + half] : sum[i];
      sum[i] = keep + __shfl_xor_sync(0xffffffffu, give, distance);
    }
  }
}

// The block's filters over the map; the sums stay on chip, and also go to memory for inspection. A thread has kRows
// rows of 2 columns; lanes that have parts of the same sums are neighbours.
template <int kSize, int kRows>
__device__ void convolve(const OnChipStep& step, float* cells, int filters, float* sums) {
  constexpr int kPitch = (kSize * kSize + 3) / 4 * 4;  // on_chip_tap_pitch(kSize)
  constexpr int kPairs = (kSize + 1) / 2, kOutputs = kRows * kOnChipColumns;
  constexpr int kBits = kRows == 4 ? 3 : kRows;  // of kOutputs
  const int lane = threadIdx.x % kWarpSize, parts_bits = step.parts_bits, parts = 1 << parts_bits;
  const int items = (filters * step.down.value * step.across.value) << parts_bits;
  for (int first = threadIdx.x - lane; first < items; first += kOnChipThreads) {
    const int item = min(first + lane, items - 1);  // all lanes of a warp go along
    const int part = item & (parts - 1), tile = item >> parts_bits;
    const int line = tile / step.across;
    const int q = kOnChipColumns * (tile - line * step.across.value);
    const int k = line / step.down, p = kRows * (line - k * step.down.value);
    float sum[kOutputs] = {};
    for (int c = part; c < step.C; c += parts) {
      const float* corner =
          cells + step.from.begin + c * step.from.plane.value + p * step.from.pitch.value + q;
      const float* taps = cells + step.taps + k * step.row + c * kPitch;
      float2 window[kRows + kSize - 1][kPairs];
      float4 tap[kPitch / 4];
#pragma unroll
      for (int y = 0; y < kRows + kSize - 1; ++y) {
#pragma unroll
        for (int i = 0; i < kPairs; ++i) {
          window[y][i] = reinterpret_cast<const float2*>(corner + y * step.from.pitch.value)[i];
        }
      }
#pragma unroll
      for (int i = 0; i < kPitch / 4; ++i) tap[i] = reinterpret_cast<const float4*>(taps)[i];
#pragma unroll
      for (int i = 0; i < kSize * kSize; ++i) {
        const float one = reinterpret_cast<const float*>(tap)[i];
#pragma unroll
        for (int y = 0; y < kRows; ++y) {
          const float* row = reinterpret_cast<const float*>(window[y + i / kSize]) + i % kSize;
          sum[y * kOnChipColumns] += row[0] * one;
          sum[y * kOnChipColumns + 1] += row[1] * one;
        }
      }
    }
    add_up(sum, part, parts_bits);
    // This lane has 2^own_bits of the outputs, from `begin` on; or several have the same one, which the first stores.
    const int own_bits = max(kBits - parts_bits, 0), sharers_bits = max(parts_bits - kBits, 0);
    const int begin = part >> sharers_bits << own_bits;
    if (first + lane >= items || begin << sharers_bits >> own_bits != part) continue;
    const float bias = cells[step.taps + (k + 1) * step.row - 4];
    const float lowest = step.relu ? 0.0f : -INFINITY;
    const int place = (k * step.P + p) * step.Q + q;
#pragma unroll
    for (int i = 0; i < kOutputs; ++i) {
      const int row = (begin + i) / kOnChipColumns, column = (begin + i) % kOnChipColumns;
      if (i >= 1 << own_bits || p + row >= step.P || q + column >= step.Q) continue;
      float value = sum[i] + bias;
      if (value < lowest) value = lowest;  // not fmaxf, which turns a NaN into a number
      cells[step.own + place + row * step.Q + column] = value;
      sums[place + row * step.Q + column] = value;
    }
  }
}

// One jump: each comparison of a number that comes from the constant cache would wait for it again.
__device__ void convolve(const OnChipStep& step, float* cells, int filters, float* sums) {
  switch (10 * step.size + step.rows) {
    case 11:
      return convolve<1, 1>(step, cells, filters, sums);
    case 12:
      return convolve<1, 2>(step, cells, filters, sums);
    case 14:
      return convolve<1, 4>(step, cells, filters, sums);
    case 31:
      return convolve<3, 1>(step, cells, filters, sums);
    case 32:
      return convolve<3, 2>(step, cells, filters, sums);
    case 34:
      return convolve<3, 4>(step, cells, filters, sums);
    case 51:
      return convolve<5, 1>(step, cells, filters, sums);
    case 52:
      return convolve<5, 2>(step, cells, filters, sums);
    case 54:
      return convolve<5, 4>(step, cells, filters, sums);
  }
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

// The block's channels of a map, including frames, to the same place in all other blocks: one warp
// per block. (A thread that stored its cells in all of them had up to fifteen stores in turn.)
template <int kBlocks>
__device__ void hand_over(float* own, int floats, int rank, std::uint64_t* full) {
  const auto cluster = cooperative_groups::this_cluster();
  const int lane = threadIdx.x % kWarpSize;
  constexpr int kWarps = kOnChipThreads / kWarpSize;
  for (int other = 1 + threadIdx.x / kWarpSize; other < kBlocks; other += kWarps) {
    float* const there = cluster.map_shared_rank(own, (rank + other) % kBlocks);
    std::uint64_t* const there_full = cluster.map_shared_rank(full, (rank + other) % kBlocks);
#pragma unroll 1
    for (int i = 4 * lane; i < floats; i += 4 * kWarpSize) {
      const float4 four = *reinterpret_cast<const float4*>(own + i);
      ptx::st_async(there + i, {four.x, four.y, four.z, four.w}, there_full);
    }
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

}  // namespace halo::network
