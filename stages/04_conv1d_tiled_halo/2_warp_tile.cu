// Stage 04, step 2: each warp has a tile of its own, each thread a run of outputs.
//
// Computes   output[i] = sum over j of mask[j] * input[i - halo + j]; cells beyond the ends
//            are zero.
// Changed    since 1 tiled_halo: a thread computes 20 or 36 neighbouring outputs, so that a cell, once
//            in a register, serves as many of them, and shared memory is read 16 bytes at a time. The
//            tile belongs to a warp, which waits for nobody else. All of a tile's loads are under
//            way before the first is used: with one at a time, 31 taps took a third longer.
// Must cost  9 taps, 20 outputs per thread: 5 requests of 17 sectors and the halo for a tile of 640
//            outputs.
//            In arithmetic, per 16 taps and thread: 320 multiply-adds, 9 shared reads, 16 taps.
//            With 3 taps two reads are of 4 bytes per lane, with bank conflicts of four lanes.
// Run        ./halo run 04 --variant warp_tile
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/04_conv1d_tiled_halo/warp_tile.cuh"

namespace halo::conv1d_tiled_halo {

constexpr int kThreads = 64;

__constant__ float warp_tile_mask[kMaxMaskWidth];

// Where the mask is: there, or among the parameters of a launch, which are in constant memory too.
struct SetMask {
  __device__ const float* taps() const { return warp_tile_mask; }
};
struct OwnMask {
  float values[127];
  __device__ const float* taps() const { return values; }
};

// The tile starts kShift cells early, at a multiple of 16 bytes.
//
// Preconditions: kOutputs / 4 is odd: lanes that are kOutputs cells apart then read 16 bytes each
// from all banks alike. input and output are 16-byte aligned; width is odd, and as the
// mask has it; halo + kShift is a multiple of 4; quads = ceil((32 * kOutputs + kShift + width
// - 1) / 4); all warps together have at least n outputs; 0 <= first, last <= n.
template <int kOutputs, int kShift, class Mask>
__global__ void __launch_bounds__(kThreads)
    warp_tile_kernel(const __grid_constant__ Mask mask,
                     const float* __restrict__ input,  // [n]
                     float* __restrict__ output,       // [n], written from first to last - 1
                     int n, int width, int first, int last, int quads) {
  extern __shared__ float4 tiles[];  // [warps of the block][quads]

  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  float4* tile = tiles + warp * quads;

  const int halo = (width - 1) / 2;
  const long long warps = blockDim.x / kWarpSize;
  const long long start =
      (blockIdx.x * warps + warp) * kWarpSize * kOutputs;  // the tile's first output
  if (start >= n) return;

  load<kOutputs>(tile, input, start - halo - kShift, n, quads);
  __syncwarp();

  float sums[kOutputs] = {};
  const float* cells = reinterpret_cast<const float*>(tile) + lane * kOutputs;
  add_mask<kShift>(cells, mask.taps(), width, sums);

  store(tile, output, sums, start, first, last);
}

static int set_mask(const float* mask, int width) {
  return cudaMemcpyToSymbol(warp_tile_mask, mask, width * sizeof(float));
}

template <class Mask>
static int launch_for(const Conv1dCall& c, const Mask& mask) {
  // More outputs per thread need fewer shared reads per multiply-add; fewer leave registers for
  // more warps, which is what counts while memory is the limit.
  return dispatch<20, 36>(c.mask_width <= 31 ? 20 : 36, [&](auto outputs) -> int {
    constexpr int kOutputs = outputs.value;
    // Cells from the last multiple of 16 bytes before a tile to its first cell.
    const int shift = (4 - c.halo() % 4) % 4;
    const int quads = (kWarpSize * kOutputs + shift + c.mask_width - 1 + 3) / 4;
    const int blocks = (c.length - 1) / (kThreads * kOutputs) + 1;
    const size_t bytes = kThreads / kWarpSize * quads * sizeof(float4);
    const auto kernel = dispatch<0, 1, 2, 3>(
        shift, [](auto number) { return warp_tile_kernel<kOutputs, number.value, Mask>; });
    kernel<<<blocks, kThreads, bytes, static_cast<cudaStream_t>(c.stream)>>>(
        mask, c.input, c.output, c.length, c.mask_width, c.first, c.last, quads);
    return cudaGetLastError();
  });
}

static int launch(const Conv1dCall& c) { return launch_for(c, SetMask()); }

static int launch_with_taps(const Conv1dCall& c) {
  OwnMask mask;
  for (int j = 0; j < c.mask_width; ++j) mask.values[j] = c.taps[j];
  return launch_for(c, mask);
}

Conv1dKernel warp_tile() {
  return {.description = "a tile per warp, 20 or 36 outputs per thread, blocks of 64 threads",
          .launch = launch,
          .set_mask = set_mask,
          .tile = [](int mask_width) { return kWarpSize * (mask_width <= 31 ? 20 : 36); },
          .multiplies_ghosts = true,
          .tuned = true,
          .launch_with_taps = launch_with_taps,
          .widest_taps = sizeof(OwnMask) / sizeof(float)};
}

}  // namespace halo::conv1d_tiled_halo
