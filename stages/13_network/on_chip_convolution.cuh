// A convolution of 4_on_chip.cu: a block's filters over the map in its shared memory.
//
//   A tile is kRows rows of 2 columns of one filter's outputs. It is a thread's alone, or 2^parts_bits neighbouring lanes
//   have every 2^parts_bits-th channel of it each:
//
//     lane     0          1          2          3          4
//     tile     0          0          0          0          1   ...         two bits of parts
//     sums     c = 0, 4.. c = 1, 5.. c = 2, 6.. c = 3, 7.. c = 0, 4..
#pragma once

#include "stages/13_network/on_chip_cells.cuh"

namespace halo::network {

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

}  // namespace halo::network
