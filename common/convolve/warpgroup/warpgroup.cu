// A layer through Hopper's tensor cores, with float's accuracy.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero; a bias and ReLU may follow.
// How        as split_tf32: the layer is a product of matrices, factors are split into two parts of TF32, and three of
//            the four products are added. Here they are wgmma's, of which a warpgroup has [64 outputs][filters] under
//            way while it prepares the next. Each warpgroup of a block has a task of its own: one copies pieces of the
//            factors to shared memory, two multiply them, one stores their sums while they are at the next tile. Blocks
//            are persistent: as many as the SMs hold, each with several tiles.
// Must cost  the input once for each tile's filters, and for each tap; the filters, twice as many bytes as they were,
//            once for each 128 outputs; each output written once, in whole rows.
#include <cuda_runtime.h>

#include <type_traits>

#include "common/convolve/warpgroup/pixels.cuh"
#include "common/convolve/warpgroup/tile.hpp"
#include "common/harness/kernel.h"
#include "common/harness/tf32.h"
#include "common/harness/warpgroup.h"

namespace halo::convolve {

namespace {

constexpr int kMultiplying = 2;  // warpgroups, the first of a block
constexpr int kWarps = kWarpgroup / kWarpSize;
constexpr int kDepth = 8;  // products of a sum that one instruction adds
constexpr int kSteps = kWarpgroupChannels / kDepth;

// What a block has on chip, and who waits for what. All tasks meet pieces and tiles in the same order.
template <int kFilters>
struct Shared {
  static constexpr int kStages = WarpgroupTile{kFilters}.stages();
  static constexpr int kFilterFloats = WarpgroupTile{kFilters}.filter_floats();
  static constexpr int kBytes = WarpgroupTile{kFilters}.shared_bytes();
  float filters[kStages][kSteps][2][kFilters * kDepth];  // big parts, then small ones
  PixelRow pixels[kStages][kWarpgroupChannels];
  float sums[kFilters][kWarpgroupSumRow];
  std::uint64_t copied[kStages], used[kStages];
  std::uint64_t summed, stored;
};

// Where a piece is on chip, and the parity of the phase in which it comes there.
template <int kPlaces>
struct Turn {
  int place = 0, parity = 0;
  __device__ void next() {
    if (++place == kPlaces) place = 0, parity ^= 1;
  }
};

__device__ int pieces_of(const LayerNumbers& layer) {
  return layer.R * layer.S * ((layer.C - 1) / kWarpgroupChannels + 1);
}

// One warpgroup copies pieces of both factors: filters in one run, by the copy engine.
template <int kFilters, class Pixels>
__device__ void copy_pieces(Shared<kFilters>& shared, Pixels pixels, const float* packed,
                            const LayerNumbers& layer, const WarpgroupTiles& tiles, int thread) {
  namespace ptx = cuda::ptx;
  constexpr int kFloats = Shared<kFilters>::kFilterFloats, kBytes = kFloats * sizeof(float);
  const int pieces = pieces_of(layer);
  Turn<Shared<kFilters>::kStages> turn;
  for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    const float* filters = packed + static_cast<long long>(tile % tiles.groups) * pieces * kFloats;
    pixels.begin_tile(tile / tiles.groups * kWarpgroupPixels);
    for (int piece = 0, c = 0, r = 0, s = 0; piece < pieces; ++piece) {
      pixels.find(c, r, s);  // while the place is still in use
      std::uint64_t* const copied = &shared.copied[turn.place];
      wait_for_phase(&shared.used[turn.place], turn.parity ^ 1);
      if (thread == 0) {
        ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, copied,
                                kBytes);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, shared.filters[turn.place],
                           filters, kBytes, copied);
      }
      pixels.copy(shared.pixels[turn.place], c);
      arrive_when_copied(copied);
      turn.next();
      filters += kFloats;
      if (++s == layer.S) s = 0, ++r;
      if (r == layer.R) r = 0, c += kWarpgroupChannels;
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// Two warpgroups multiply, each 64 of the tile's pixels.
//
// Tensor cores truncate sums instead of rounding them, always towards zero, and with each instruction once more. So the
// sums of a piece are added to others, by additions that round; and of a piece the small products come first, while
// there is nothing large that they could be cut off at.
template <class Pixels, int kFilters>
__device__ void multiply_pieces(Shared<kFilters>& shared, const LayerNumbers& layer,
                                const WarpgroupTiles& tiles, int thread) {
  constexpr int kSums = kFilters / 2;
  const int pieces = pieces_of(layer);
  const int lane = thread % kWarpSize, g = lane / 4, t = lane % 4;
  const int first_pixel = thread / kWarpSize * 16 + g;
  Turn<Shared<kFilters>::kStages> turn;
  int parity = 1;  // of the tile whose sums were stored
  for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    const int tile_pixel = tile / tiles.groups * kWarpgroupPixels;
    const int column[] = {Pixels::column(layer, tiles.map, tile_pixel, first_pixel, t),
                          Pixels::column(layer, tiles.map, tile_pixel, first_pixel + 8, t)};
    float sums[kSums] = {}, recent[kSums] = {};
    std::uint64_t* used = nullptr;
    const auto end_products = [&] {
      wait_for_products();
      __syncwarp();
      if (used != nullptr && lane == 0) arrive(used);
#pragma unroll
      for (int i = 0; i < kSums; ++i) sums[i] += recent[i];
    };
    for (int piece = 0; piece < pieces; ++piece) {
      wait_for_phase(&shared.copied[turn.place], turn.parity);
      float pixels[kSteps][4];
#pragma unroll
      for (int i = 0; i < kSteps * 4; ++i) {
        const int c = i / 4 * kDepth + i % 4 / 2 * 4 + t;
        pixels[i / 4][i % 4] = shared.pixels[turn.place][c][column[i % 2]];
      }
      end_products();
      used = &shared.used[turn.place];
      std::uint32_t big[kSteps][4], small[kSteps][4];
#pragma unroll
      for (int i = 0; i < kSteps * 4; ++i) {
        const Tf32Parts parts = tf32_parts(pixels[i / 4][i % 4]);
        big[i / 4][i % 4] = parts.big, small[i / 4][i % 4] = parts.small;
      }
      const std::uint64_t filters = shared_matrix(shared.filters[turn.place]);
      const auto part_of = [&](int step, int part) {
        return behind(filters, (2 * step + part) * kFilters * kDepth * 4);
      };
      // [doc:products]
      begin_products();
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        multiply_tf32_warpgroup<kFilters>(recent, small[step], part_of(step, 0), step > 0);
        multiply_tf32_warpgroup<kFilters>(recent, big[step], part_of(step, 1), true);
      }
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        multiply_tf32_warpgroup<kFilters>(recent, big[step], part_of(step, 0), true);
      }
      commit_products();
      // [/doc:products]
      turn.next();
    }
    end_products();

    wait_for_phase(&shared.stored, parity);
    parity ^= 1;
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      shared.sums[i / 4 * 8 + 2 * t + i % 2][first_pixel + i / 2 % 2 * 8] = sums[i];
    }
    __syncwarp();
    if (lane == 0) arrive(&shared.summed);
  }
}

// One warpgroup stores sums: a warp has whole rows, of a filter's 128 outputs; a lane neighbours, four where those of a
// map are whole quads.
template <int kAtOnce, bool kFinishes, int kFilters>
__device__ void store_sums(Shared<kFilters>& shared, float* output, const float* bias, bool relu,
                           const LayerNumbers& layer, const WarpgroupTiles& tiles, int thread) {
  using Sums = std::conditional_t<kAtOnce == 4, float4, float>;
  constexpr int kOwn = kWarpgroupPixels / kWarpSize / kAtOnce;
  constexpr int kAhead = kAtOnce == 4 ? 4 : 2;  // rows whose sums are read before one is stored
  const int lane = thread % kWarpSize;
  const unsigned map = tiles.map.value;
  int parity = 0;
  for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    const int first = tile % tiles.groups * kFilters, rows = min(kFilters, layer.K - first);
    unsigned at[kOwn];  // cells of the output, in the first row
    bool exists[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int m = tile / tiles.groups * kWarpgroupPixels + (i * kWarpSize + lane) * kAtOnce;
      exists[i] = m < layer.N * tiles.map.value;
      at[i] = (m / tiles.map * layer.K + first) * map + m % tiles.map;
    }
    wait_for_phase(&shared.summed, parity);
    parity ^= 1;
    for (int k = thread / kWarpSize; k < rows; k += kAhead * kWarps) {
      Sums sums[kAhead][kOwn];
#pragma unroll
      for (int i = 0; i < kAhead * kOwn; ++i) {
        const float* const from = shared.sums[k + i / kOwn * kWarps];
        sums[i / kOwn][i % kOwn] = reinterpret_cast<const Sums*>(from)[i % kOwn * kWarpSize + lane];
      }
      asm volatile("" ::: "memory");  // else nvcc reads each where it is stored
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const int own = k + j * kWarps;
        if constexpr (kFinishes) {
          const float more = bias != nullptr && own < rows ? bias[first + own] : 0.0f;
#pragma unroll
          for (int i = 0; i < kOwn * kAtOnce; ++i) {
            float& sum = reinterpret_cast<float*>(sums[j])[i];
            sum += more;
            sum = relu && sum < 0.0f ? 0.0f : sum;  // not fmaxf, which turns a NaN into 0
          }
        }
        float* const row = output + std::uint64_t{map} * own;
#pragma unroll
        for (int i = 0; i < kOwn; ++i) {
          if (exists[i] && own < rows) *reinterpret_cast<Sums*>(row + at[i]) = sums[j][i];
        }
      }
    }
    __syncwarp();
    if (lane == 0) arrive(&shared.stored);
  }
}

// Preconditions: blockDim.x = kWarpgroupThreads; packed as pack_warpgroup leaves it, 16-byte aligned; as many bytes of
// dynamic shared memory as the tile says.
template <int kFilters, class Pixels>
__global__ void __launch_bounds__(kWarpgroupThreads, 1)
    warpgroup_kernel(const float* input,   // [N][C][H][W]
                     const float* packed,  // [groups][pieces][kSteps][2][kFilters][kDepth]
                     float* output,        // [N][K][P][Q]
                     const float* bias,    // [K], or null
                     bool relu, const LayerNumbers layer, const WarpgroupTiles tiles) {
  extern __shared__ __align__(128) unsigned char on_chip[];
  auto& shared = *reinterpret_cast<Shared<kFilters>*>(on_chip);
  static_assert(sizeof shared == Shared<kFilters>::kBytes);
  if (threadIdx.x < Shared<kFilters>::kStages) {
    cuda::ptx::mbarrier_init(&shared.copied[threadIdx.x], kWarpgroup);
    cuda::ptx::mbarrier_init(&shared.used[threadIdx.x], kMultiplying * kWarps);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  if (threadIdx.x == 0) {
    cuda::ptx::mbarrier_init(&shared.summed, kMultiplying * kWarps);
    cuda::ptx::mbarrier_init(&shared.stored, kWarps);
  }
  __syncthreads();
  const int task = threadIdx.x / kWarpgroup, thread = threadIdx.x % kWarpgroup;
  if (task < kMultiplying) {
    take_registers<208>();
    multiply_pieces<Pixels>(shared, layer, tiles, threadIdx.x);
  } else if (task == kMultiplying) {
    give_up_registers<48>();
    copy_pieces(shared, Pixels(input, layer, tiles.map, thread), packed, layer, tiles, thread);
  } else {
    give_up_registers<48>();
    const auto store = [&](auto at_once) {
      constexpr int kAtOnce = decltype(at_once)::value;
      if (bias != nullptr || relu) {
        store_sums<kAtOnce, true>(shared, output, bias, relu, layer, tiles, thread);
      } else {
        store_sums<kAtOnce, false>(shared, output, bias, relu, layer, tiles, thread);
      }
    };
    tiles.map.value % 4 == 0 ? store(Number<4>()) : store(Number<1>());
  }
}

// packed[group][chunk of channels][tap][step][big, small][8 filters][4 channels, 4 more][filter][channel], zeros where
// there is no filter or channel: what a block copies of a piece is one run, and each part of a step is a matrix as
// wgmma takes it. Preconditions: a thread for each two floats of packed; `group` filters a tile.
__global__ void pack_kernel(const float* filters,  // [K][C][R][S]
                            float* packed, const LayerNumbers layer, const int group) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int part = group * kDepth;  // floats
  const int step = i / part % kSteps, piece = i / (part * kSteps);
  const int taps = layer.R * layer.S, chunks = (layer.C - 1) / kWarpgroupChannels + 1;
  const int k = piece / taps / chunks * group + i % part / 64 * 8 + i / 4 % 8;
  const int c = piece / taps % chunks * kWarpgroupChannels + step * kDepth + i / 32 % 2 * 4 + i % 4;
  const bool exists = k < layer.K && c < layer.C;
  const Tf32Parts parts =
      tf32_parts(exists ? filters[(k * layer.C + c) * taps + piece % taps] : 0.0f);
  float* const to = packed + (i / part * 2 * part + i % part);
  to[0] = __uint_as_float(parts.big);
  to[part] = __uint_as_float(parts.small);
}

}  // namespace

int warpgroup(const LayerCall& call, const WarpgroupTile& tile, bool in_runs,
              const WarpgroupTiles& tiles, int blocks) {
  const auto kernel = dispatch<32, 64, 96, 128>(tile.filters, [&](auto filters) {
    constexpr int kFilters = decltype(filters)::value;
    return in_runs ? warpgroup_kernel<kFilters, RunPixels>
                   : warpgroup_kernel<kFilters, SinglePixels>;
  });
  if (kernel == nullptr) return cudaErrorInvalidConfiguration;
  const int bytes = tile.shared_bytes();
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  kernel<<<blocks, kWarpgroupThreads, bytes, static_cast<cudaStream_t>(call.stream)>>>(
      call.input, call.packed, call.output, call.bias, call.relu, call.layer, tiles);
  return cudaGetLastError();
}

int pack_warpgroup(const float* filters, float* packed, const LayerNumbers& layer,
                   const WarpgroupTile& tile) {
  constexpr int kThreads = 256;
  const int groups = (layer.K - 1) / tile.filters + 1;
  const int pieces = layer.R * layer.S * ((layer.C - 1) / kWarpgroupChannels + 1);
  const int blocks = groups * pieces * (tile.filters * kWarpgroupChannels / kThreads);
  pack_kernel<<<blocks, kThreads>>>(filters, packed, layer, tile.filters);
  return cudaGetLastError();
}

}  // namespace halo::convolve
