// What a block has in shared memory, what its threads do with it, and how blocks are launched: the same for images and pixels.
#pragma once

#include "stages/10_layout_convolution/places.cuh"

namespace halo::layout_convolution {

// A block is 4 warps. It computes up to 128 columns of outputs, 32 lanes times kColumns per thread,
// for up to 64 filters, 4 warps times kFilters per thread: cuda-convnet2's shape for its usual layer.
// Each thread keeps kColumns x kFilters sums in registers, so that a cell that it has read serves
// kFilters products and a tap kColumns. A column is an image in one kernel and a pixel in the other.
constexpr int kLanes = kWarpSize;
constexpr int kWarps = 4;
// Products of every sum between two barriers: cuda-convnet2 takes 4 or 8 channels of one tap, which a
// layer with 3 channels does not have. Here it is 8 taps, on through the channels.
constexpr int kTaps = 8;

// Blocks that an SM must have room for, which limits a thread to 128 registers with 4 columns, to 96
// with 2 and to 64 with 1: the fewer sums wait for each other, the more warps have to.
constexpr int blocks_per_sm(int columns) { return columns == 1 ? 6 : 4; }

// As many columns per thread as there are for it: 4, 2 or 1.
inline int columns_per_thread(int columns) {
  return columns >= 4 * kLanes ? 4 : columns >= 2 * kLanes ? 2 : 1;
}
// As few filters per thread as let a block have them all: 4, 8, or 16 and perhaps several blocks.
inline int filters_per_thread(int K) { return K <= 4 * kWarps ? 4 : K <= 8 * kWarps ? 8 : 16; }

template <int kColumns, int kFilters>
struct Tile {
  float cells[kTaps][kColumns * kLanes];
  // [tap][filter]. The float4 after the last filter shifts each row by 4 banks, so that 8 lanes that
  // store 8 taps of a filter have 8 banks; without it all would conflict in one.
  float4 taps[kTaps][kWarps * kFilters / 4 + 1];
};

// A thread's share of the next tile. It waits in registers while the present one is in use.
template <int kColumns, int kFilters>
struct Share {
  float cells[kTaps / kWarps][kColumns];  // of taps threadIdx.y, threadIdx.y + kWarps, ...
  float taps[kFilters / 4];
};

// Loads taps first ... first + 7 of the block's filters. A warp has 8 taps of 4 filters: 4 runs of 32
// bytes. cuda-convnet stores filters as [C][R][S][K], where a request is one run of 32 filters.
template <int kColumns, int kFilters>
__device__ void load_taps(Share<kColumns, kFilters>& share, const float* filters,
                          const LayerNumbers& layer, int first_k, int first) {
  const int thread = threadIdx.y * kLanes + threadIdx.x;
  const int products = layer.C * layer.R * layer.S;
  const int t = first + thread % kTaps;
#pragma unroll
  for (int i = 0; i < kFilters / 4; ++i) {
    const int k = first_k + i * (kWarps * kLanes / kTaps) + thread / kTaps;
    share.taps[i] = k < layer.K && t < products ? filters[k * products + t] : 0.0f;
  }
}

template <int kColumns, int kFilters>
__device__ void store(const Share<kColumns, kFilters>& share, Tile<kColumns, kFilters>& tile) {
#pragma unroll
  for (int row = 0; row < kTaps / kWarps; ++row) {
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      tile.cells[row * kWarps + threadIdx.y][i * kLanes + threadIdx.x] = share.cells[row][i];
    }
  }
  const int thread = threadIdx.y * kLanes + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kFilters / 4; ++i) {
    const int k = i * (kWarps * kLanes / kTaps) + thread / kTaps;
    reinterpret_cast<float*>(tile.taps[thread % kTaps])[k] = share.taps[i];
  }
}

// For each of the 8 taps a thread reads its cells, 32 apart from each other, and its filters' taps,
// four at a time; all lanes of a warp read the same taps. With 4 columns and 16 filters that is 8
// requests (12 wavefronts: one of 16 bytes per lane takes two) for 64 products.
template <int kColumns, int kFilters>
__device__ void multiply(const Tile<kColumns, kFilters>& tile, float (&sums)[kFilters][kColumns]) {
#pragma unroll
  for (int t = 0; t < kTaps; ++t) {
    float cell[kColumns];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) cell[i] = tile.cells[t][i * kLanes + threadIdx.x];
#pragma unroll
    for (int f = 0; f < kFilters; f += 4) {
      const float4 tap = tile.taps[t][(threadIdx.y * kFilters + f) / 4];
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        sums[f][i] += tap.x * cell[i];
        sums[f + 1][i] += tap.y * cell[i];
        sums[f + 2][i] += tap.z * cell[i];
        sums[f + 3][i] += tap.w * cell[i];
      }
    }
  }
}

// Launches the kernel that kernel_of(columns, filters) gives for a thread's columns and filters. A block has its columns
// among `all`, at each of so many places.
template <class KernelOf>
int launch_blocks(const LayerCall& c, bool chwn, int all, int places, KernelOf kernel_of) {
  const LayerNumbers& layer = c.layer;
  const int columns = columns_per_thread(all), filters = filters_per_thread(layer.K);
  const auto kernel = dispatch<1, 2, 4>(columns, [&](auto columns_each) {
    return dispatch<4, 8, 16>(
        filters, [&](auto filters_each) { return kernel_of(columns_each, filters_each); });
  });
  if (kernel == nullptr) return cudaErrorInvalidConfiguration;
  const int column_groups = (all - 1) / (columns * kLanes) + 1;
  const int filter_groups = (layer.K - 1) / (kWarps * filters) + 1;
  const int blocks = column_groups * places * filter_groups;  // each has an output: fits
  kernel<<<blocks, dim3(kLanes, kWarps)>>>(c.input, c.filters, c.output, layer,
                                           layout_of(chwn, layer.N, layer.C, layer.H, layer.W),
                                           layout_of(chwn, layer.N, layer.K, layer.P, layer.Q));
  return cudaGetLastError();
}

}  // namespace halo::layout_convolution
