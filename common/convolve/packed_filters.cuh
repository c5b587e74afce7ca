// The kernel that packs filters as products of matrices read them. It is a transposition, so it goes by tiles through shared
// memory: both what is read and what is written are runs of 32 neighbours.
#pragma once

#include <cuda_runtime.h>

#include <type_traits>

#include "common/harness/divisor.h"
#include "common/harness/kernel.h"

namespace halo::convolve {

// filters[K][C][taps] become packed[taps][channels][row], neighbours are filters, and zeros where there is no channel or
// filter. Rows of a tap from `last` on are those of the channel `shift` before; what the rows before them have is zeros.
struct PackedRows {
  int K, C;
  Divisor taps;
  int channels, row;
  int last = 0, shift = 0;

  constexpr long long floats() const { return 1ll * taps.value * channels * row; }
};

constexpr int kPackTile = 32, kPackThreads = 256;

// For `Behind` where no numbers come after the filters.
struct NothingBehind {};

// After the filters come `behind_count` numbers more, at `after`: behind(i). Preconditions: blockDim.x = kPackThreads;
// gridDim.x = tiles of filters * tiles of channels' taps, and a thread for each number behind.
template <class Behind>
__global__ void __launch_bounds__(kPackThreads)
    pack_kernel(const float* filters, float* packed, float* after, PackedRows rows,
                Divisor filter_tiles, int tiles, Behind behind, long long behind_count) {
  if constexpr (!std::is_same_v<Behind, NothingBehind>) {
    if (static_cast<int>(blockIdx.x) >= tiles) {
      const long long i = 1ll * (blockIdx.x - tiles) * kPackThreads + threadIdx.x;
      if (i < behind_count) after[i] = behind(i);
      return;
    }
  }
  __shared__ float tile[kPackTile][kPackTile + 1];
  constexpr int kStep = kPackThreads / kPackTile;
  const int lane = threadIdx.x % kPackTile, own = threadIdx.x / kPackTile;
  const int first_filter = static_cast<int>(blockIdx.x) % filter_tiles * kPackTile;
  const int first_place = static_cast<int>(blockIdx.x) / filter_tiles * kPackTile;
  const int places = rows.channels * rows.taps.value;  // in the order (channel, tap)
  {
    const int place = first_place + lane, channel = place / rows.taps;
    const int c = channel < rows.last ? channel : channel - rows.shift;
    const bool exists = place < places && c < rows.C && (channel < rows.last || c >= rows.last);
    const int in_filter = place - (channel - c) * rows.taps.value;
    const float* const from = filters + in_filter;
#pragma unroll
    for (int i = 0; i < kPackTile; i += kStep) {
      const int k = first_filter + own + i;
      tile[own + i][lane] = exists && k < rows.K ? from[1ll * k * rows.C * rows.taps.value] : 0.0f;
    }
  }
  __syncthreads();
  const int k = first_filter + lane;
#pragma unroll
  for (int i = 0; i < kPackTile; i += kStep) {
    const int place = first_place + own + i, channel = place / rows.taps;
    const int tap = place - channel * rows.taps.value;
    if (place < places && k < rows.row) {
      packed[(1ll * tap * rows.channels + channel) * rows.row + k] = tile[lane][own + i];
    }
  }
}

/// Launches it. Returns a CUDA error code.
template <class Behind = NothingBehind>
int launch_pack(const float* filters, float* packed, const PackedRows& rows,
                const Behind& behind = {}, long long behind_count = 0) {
  const int filter_tiles = (rows.row - 1) / kPackTile + 1;
  const int tiles = filter_tiles * ((rows.channels * rows.taps.value - 1) / kPackTile + 1);
  const auto blocks_behind = static_cast<int>((behind_count + kPackThreads - 1) / kPackThreads);
  pack_kernel<<<tiles + blocks_behind, kPackThreads>>>(
      filters, packed, packed + rows.floats(), rows, filter_tiles, tiles, behind, behind_count);
  return cudaGetLastError();
}

}  // namespace halo::convolve
