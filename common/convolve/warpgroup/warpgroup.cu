// A layer through Hopper's tensor cores, with float's accuracy.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]; cells that do
//            not exist are zero; a bias and ReLU may follow.
// How        as split_tf32: the layer is a product of matrices, factors are split into two parts of TF32, and three of
//            the four products are added. Here they are wgmma's, of which a warpgroup has [64 outputs][filters] under
//            way while it prepares the next. Each warpgroup of a block has a task of its own: one copies pieces of the
//            factors to shared memory, two (of a tile of 64 outputs one) multiply them, one stores their sums while they are at the next tile. Blocks
//            are persistent: as many as the SMs hold, each with several tiles. Where those come out uneven, two blocks
//            that are a cluster share each tile's sums: half a tile more or less is what then is left over.
// Must cost  the input once for each tile's filters, and for each tap; the filters, twice as many bytes as they were,
//            once for each 128 or 64 outputs; each output written once, in whole rows.
#include <cuda_runtime.h>

#include "common/convolve/warpgroup/block.cuh"
#include "common/convolve/warpgroup/copying.cuh"
#include "common/convolve/warpgroup/multiplying.cuh"
#include "common/convolve/warpgroup/storing.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

namespace {

// Preconditions: blockDim.x = warpgroup_threads(kPixels); packed as pack_warpgroup leaves it, 16-byte aligned; as many bytes of
// dynamic shared memory as the tile says.
template <int kFilters, int kPixels, class Pixels, int kParts>
__global__ void __launch_bounds__(warpgroup_threads(kPixels), warpgroup_resident(kPixels))
    warpgroup_kernel(
        const float* input,  // [N][C][H][W]
        const float*
            packed,     // [groups][pieces][kSteps][2][kFilters][kDepth], of matrices [N][groups]...
        float* output,  // [N][K][P][Q]
        const float* bias,  // [K], or null
        bool relu, const LayerNumbers layer, const WarpgroupTiles tiles) {
  extern __shared__ __align__(128) unsigned char on_chip[];
  using Chip = Shared<kFilters, kPixels>;
  auto& shared = *reinterpret_cast<Chip*>(on_chip);
  static_assert(sizeof shared == Chip::kBytes);
  if (threadIdx.x < Chip::kStages) {
    cuda::ptx::mbarrier_init(&shared.copied[threadIdx.x], kWarpgroup);
    cuda::ptx::mbarrier_init(&shared.used[threadIdx.x], kMultiplying<kPixels> * kWarps);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  const Part<kParts> part;
  if (threadIdx.x == 0) {
    cuda::ptx::mbarrier_init(&shared.summed, kParts * kMultiplying<kPixels> * kWarps);
    cuda::ptx::mbarrier_init(&shared.stored, kParts * kWarps);
    cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
  }
  kParts == 1 ? __syncthreads() : cooperative_groups::cluster_group::sync();
  const int task = threadIdx.x / kWarpgroup, thread = threadIdx.x % kWarpgroup;
  if (task < kMultiplying<kPixels>) {
    take_registers<kPixels == kWarpgroupPixels ? 208 : 144>();
    multiply_pieces<Pixels>(shared, layer, tiles, part, threadIdx.x);
  } else if (task == kMultiplying<kPixels>) {
    give_up_registers<48>();
    copy_pieces(shared, Pixels(input, layer, tiles.map, thread), packed, layer, tiles, part,
                thread);
  } else {
    give_up_registers<48>();
    wait_for_launches_before();  // the outputs of the call before have been read
    const auto store = [&](auto at_once) {
      constexpr int kAtOnce = decltype(at_once)::value;
      if (!kOfMatrices<Pixels> && (bias != nullptr || relu)) {
        store_sums<kAtOnce, true>(shared, output, bias, relu, layer, tiles, part, thread);
      } else {
        store_sums<kAtOnce, false>(shared, output, bias, relu, layer, tiles, part, thread);
      }
    };
    tiles.map.value % 4 == 0 ? store(Number<kMostAtOnce<kPixels>>()) : store(Number<1>());
  }
  // Nobody's shared memory goes while the other block reads it or arrives there.
  if constexpr (kParts > 1) cooperative_groups::cluster_group::sync();
}

}  // namespace

int warpgroup(const LayerCall& call, const WarpgroupTile& tile, WarpgroupPixelsBy by,
              const WarpgroupTiles& tiles, int blocks) {
  const auto of_tile = [&](auto filters, auto pixels, auto parts) {
    using By = WarpgroupPixelsBy;
    constexpr int kFilters = filters.value, kPixels = pixels.value, kParts = parts.value;
    if constexpr (kParts == 1) {
      if (by == By::matrices) {
        return warpgroup_kernel<kFilters, kPixels, MatrixPixels<kPixels>, kParts>;
      }
      if constexpr (kPixels == kWarpgroupPixels) {
        if (by == By::taps) return warpgroup_kernel<kFilters, kPixels, TapPixels, kParts>;
      }
    }
    return by == By::quads ? warpgroup_kernel<kFilters, kPixels, RunPixels<kPixels>, kParts>
           : by == By::one
               ? warpgroup_kernel<kFilters, kPixels, SinglePixels<By::one, kPixels>, kParts>
           : by == By::halves
               ? warpgroup_kernel<kFilters, kPixels, SinglePixels<By::halves, kPixels>, kParts>
               : nullptr;
  };
  constexpr Number<kWarpgroupPixels> kPixels;
  const auto kernel =
      tile.pixels == kFewPixels ? of_tile(Number<32>(), Number<kFewPixels>(), Number<1>())
      : tile.parts == 2
          ? dispatch<64, 80, 96, 128>(
                tile.filters, [&](auto filters) { return of_tile(filters, kPixels, Number<2>()); })
          : dispatch<32, 64, 80, 96, 128>(
                tile.filters, [&](auto filters) { return of_tile(filters, kPixels, Number<1>()); });
  if (kernel == nullptr) return cudaErrorInvalidConfiguration;
  const int bytes = tile.shared_bytes();
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return launch_clusters(dim3(tile.parts), call.overlaps, kernel, dim3(blocks),
                         dim3(warpgroup_threads(tile.pixels)), bytes,
                         static_cast<cudaStream_t>(call.stream), call.input, call.packed,
                         call.output, call.bias, call.relu, call.layer, tiles);
}

}  // namespace halo::convolve
