// Winograd's method, in one kernel.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - padding_h + r][q - padding_w + s]; cells that do not exist are zero.
// How        a tile of 4 x 4 outputs of a 3 x 3 filter takes 36 multiplications for each channel and filter, not 144;
//            2 x 2 outputs take 16, not 36 (3 x 3), or 36, not 100 (5 x 5). Inputs, filters and sums are transformed
//            for this, and between the transforms are 16 or 36 products of matrices. Filters are transformed once,
//            by pack; everything else is in this kernel and never leaves the chip.
//
//              step              0           1             2             3
//              chunk 0           copied      transformed   multiplied
//              chunk 1                       copied        transformed   multiplied
//              chunk 2                                     copied        transformed  ...
//
// Must cost  transformed filters (36 floats where there were 9) once for each 16 or 32 tiles, patches of the input
//            once for each 32 or 64 filters. 512 channels of 28 x 28 and 512 filters of 3 x 3, tiles of
//            4 x 4, 64 filters and 16 tiles per block: 37.7 MB of filters 4 times, 3.6 MB of patches 8
//            times, which is more than a direct method reads, for a quarter of its multiplications.
#include "common/convolve/cluster.cuh"
#include "common/convolve/winograd/patches.cuh"
#include "common/convolve/winograd/tile_sums.cuh"
#include "common/convolve/winograd/winograd.cuh"

namespace halo::convolve {

// Preconditions: stride 1, filters of kTaps x kTaps, packed as filters.cu leaves it; blockDim = kThreads; gridDim.x = blocks of
// tiles * groups * parts, in clusters of `parts`, which divides kFilters and is at most `chunks`.
template <int kShape>
__global__ void __launch_bounds__(Winograd<kShape>::kThreads, 1)
    winograd_kernel(const float* input,   // [N][C][H][W]
                    const float* packed,  // [groups][chunks][kFrequencies][kChannels][kFilters]
                    float* output,        // [N][K][P][Q]
                    const float* bias,    // [K], or null
                    bool relu, LayerNumbers layer, WinogradDivision division) {
  using W = Winograd<kShape>;
  extern __shared__ float4 on_chip[];
  float* const weights = reinterpret_cast<float*>(on_chip);  // [filter_buffers][kWeights]
  float* const inputs = weights + W::kIs.filter_buffers * W::kWeights;  // [2][kInputs]
  float* const patches = inputs + 2 * W::kInputs;                       // [2][kPatches]
  // With a cluster each block has a barrier that is full when all have sent their parts, counted in bytes.
  std::uint64_t* const full = reinterpret_cast<std::uint64_t*>(weights + W::kToBarrier);
  const int parts = division.parts.value;
  if (parts > 1 && threadIdx.x == 0) expect(full, sizeof(float) * W::kParts);

  // The blocks of a cluster have the same outputs and a part of the channels each. Blocks with the same tiles
  // and other filters are neighbours: what one of them reads of the input the others find in the L2 cache.
  const int cluster_block = static_cast<int>(blockIdx.x) / division.parts;
  const int part = static_cast<int>(blockIdx.x) % division.parts;
  const int group = cluster_block % division.groups;
  const int first_tile = cluster_block / division.groups * W::kTiles;
  const long long all_chunks = division.chunks;
  const int first = division.chunks * part / division.parts;
  const int chunks = division.chunks * (part + 1) / division.parts - first;
  const int thread = threadIdx.x;
  const PatchLines<W> lines(layer, division, first_tile + thread % W::kLine / W::kCells, thread);
  // Ghost cells are the same ones in all chunks: their zeros are written here and never again.
  for (int i = 4 * thread; i < 2 * W::kPatches; i += 4 * W::kThreads) {
    *reinterpret_cast<float4*>(patches + i) = float4{0, 0, 0, 0};
  }

  // A warp multiplies some frequencies: for each the outer product of a column of filters and a row of tiles,
  // channel by channel. A lane has 8 x 4 or 8 x 8 of it, in runs of four, half of the filters or tiles apart.
  // Of eight neighbouring lanes only four (two) read different filters (tiles): a float4 for all lanes then
  // takes two passes, and four if all eight differ.
  const int many = thread % 2 + thread / 4 % 4 * 2, few = thread / 2 % 2 + thread / 16 % 2 * 2;
  const int own_filter = 4 * (W::kFilters == 64 ? many : few);
  const int own_tile = 4 * (W::kFilters == 64 ? few : many);
  const int own_frequency = thread / kWarpSize * W::kOwn;
  float sums[W::kOwn][W::kRows][W::kColumns] = {};
  cudaGridDependencySynchronize();  // where calls overlap: the input is there; else nothing

  // In step s the patches of chunk s are under way, those of chunk s - 1 are transformed, those of chunk s - 2
  // multiplied, so that a step has one barrier and a warp is held up by none of its own copies. (Four more warps
  // that only copy and transform, while these only multiply, are slower: the copies are as many, in fewer warps.)
  constexpr int kLate =
      W::kIs.filter_buffers == 2;  // then a step later: chunk s - 2 is still in use
#pragma unroll 1  // these instructions are many, and the first time each comes from far away
  for (int step = 0; step < chunks + 2; ++step) {
    __pipeline_wait_prior(0);
    __syncthreads();
    if (step < chunks) {
      const int c = (first + step) * W::kChannels, plane = layer.H * layer.W;
      lines.copy_chunk(input + static_cast<long long>(c) * plane, min(layer.C - c, W::kChannels),
                       plane, thread, patches + step % 2 * W::kPatches);
    }
    const int late = step - kLate;
    if (late >= 0 && late < chunks) {
      const float* from = packed + (group * all_chunks + first + late) * W::kWeights + 4 * thread;
      float* const to = weights + late % W::kIs.filter_buffers * W::kWeights + 4 * thread;
#pragma unroll
      for (int i = 0; i < W::kWeights; i += 4 * W::kThreads) {
        __pipeline_memcpy_async(to + i, from + i, 16);
      }
    }
    __pipeline_commit();
    if (step >= 1 && step <= chunks) {
      transform_patches<W>(patches + (step - 1) % 2 * W::kPatches, thread,
                           inputs + (step - 1) % 2 * W::kInputs);
    }
    if (step < 2) continue;
    const float* a = weights + (step - 2) % W::kIs.filter_buffers * W::kWeights +
                     own_frequency * W::kChannels * W::kFilters + own_filter;
    const float* b = inputs + step % 2 * W::kInputs + own_frequency * W::kRow + own_tile;
    multiply_frequencies<W>(a, b, sums);
  }
  __syncthreads();
  // This block's chunks are not needed any more, and others may send to where they were.
  const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  if (parts > 1) cluster.barrier_arrive();

  // All frequencies of an output together: the sums are exchanged, in place of what is no longer needed.
  float* const exchange = weights;  // [kFrequencies][kPitch]
  put_sums<W>(sums, exchange, own_frequency, own_filter, own_tile);
  __syncthreads();

  // Outputs are sums over the parts; every block adds up those of some filters, and is sent them by all. A row of a tile's
  // outputs is sent as soon as it is there; the rows of neighbouring tiles are neighbours.
  const int filters = W::kFilters / division.parts;  // of a block
  constexpr int kRun = W::kTiles * W::kOutputs;
  float* const of_parts = exchange + W::kSums;  // [parts][filters][kOutputs][kRun]
  if (parts > 1) cluster.barrier_wait();
  transform_all_sums<W>(thread, exchange, [&](int pair, int row, const float(&y)[W::kOutputs]) {
    const int filter = pair / W::kTiles, owner = filter * parts / W::kFilters;
    const int place = ((part * filters + filter - owner * filters) * W::kOutputs + row) * kRun +
                      pair % W::kTiles * W::kOutputs;
    if (parts > 1) {
      ptx::st_async(cluster.map_shared_rank(of_parts, owner) + place, y,
                    cluster.map_shared_rank(full, owner));
    } else {
      using Row = std::conditional_t<W::kOutputs == 4, float4, float2>;
      *reinterpret_cast<Row*>(of_parts + place) = *reinterpret_cast<const Row*>(y);
    }
  });
  parts > 1 ? wait_for_all(full) : __syncthreads();
  const int first_filter = group * W::kFilters + part * filters;
  add_parts<W>(of_parts, parts, filters, thread, output, bias, relu, layer, division, first_tile,
               first_filter);
}

int winograd(const LayerCall& call, const WinogradDivision& division) {
  return dispatch<0, 1, 2, 3, 4>(division.shape, [&](auto shape) {
    using W = Winograd<shape.value>;
    const auto kernel = winograd_kernel<shape.value>;
    constexpr int kBytes = W::kIs.on_chip() * static_cast<int>(sizeof(float));
    const cudaError_t status =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (status != cudaSuccess) return static_cast<int>(status);
    const int tile_blocks = (division.tiles + W::kTiles - 1) / W::kTiles;
    return static_cast<int>(
        launch_clusters(dim3(division.parts), call.overlaps, kernel,
                        dim3(tile_blocks * division.groups * division.parts), dim3(W::kThreads),
                        kBytes, static_cast<cudaStream_t>(call.stream), call.input, call.packed,
                        call.output, call.bias, call.relu, call.layer, division));
  });
}

}  // namespace halo::convolve
