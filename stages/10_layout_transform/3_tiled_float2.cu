// Stage 10, step 3: two images at once.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse.
// Changed    since 2 tiled: in CHWN a thread moves two neighbouring images with one access of 8 bytes,
//            so that a tile has 64 images, as pairs. In NCHW the two are far apart and get an access
//            each. This is Fig. 7b of Li et al. (SC'16) with its indices corrected, for any batch.
// Must cost  per tile of 32 cells and 64 images: in CHWN 32 requests of 8 sectors (9 if rows do not
//            begin on a sector), half as many requests as step 2; in NCHW 64 of 4 or 5 as there; 32
//            shared writes and 32 shared reads of two wavefronts each, the least for 8 bytes per lane;
//            one barrier. With odd N what step 2 costs.
// Run        ./halo run 10_layout_transform --variant tiled_float2
#include <cuda_runtime.h>

#include "common/harness/kernel.h"

namespace halo::layout_transform {

// A tile is 32 cells high and 32 pairs of images wide: one for each lane of a warp, in both directions.
constexpr int kTile = 32;

// Preconditions of both: kTile x kTile threads, a block for each tile; N is even.
__global__ void __launch_bounds__(kTile* kTile)
    float2_to_nchw_kernel(const float2* input,  // [cells][pairs], pairs of images
                          float* output,        // [2 * pairs][cells]
                          int pairs, int cells) {
  // One pair more than is used: a column of the tile then has the pairs of 16 lanes, 32 floats, in 32
  // banks. Reading them as two floats, .x and then .y, would meet 16 banks only, twice each.
  __shared__ float2 tile[kTile][kTile + 1];  // [cell][pair]

  // The figure's blocks walk along the images, 64 per step. Here each step is its own block, which
  // saves barriers; and small images have blocks for more than C * H * W / 32 multiprocessors.
  const int tiles_across = (pairs - 1) / kTile + 1;
  const int first_cell = blockIdx.x / tiles_across * kTile;
  const int first_pair = blockIdx.x % tiles_across * kTile;

  // A warp has a cell: lanes have neighbouring pairs of images.
  int cell = first_cell + threadIdx.y;
  int pair = first_pair + threadIdx.x;
  if (cell < cells && pair < pairs) {
    tile[threadIdx.y][threadIdx.x] = input[cell * pairs + pair];
  }
  __syncthreads();  // the tile is complete

  // A warp has a pair of images: lanes have neighbouring cells, first of one image, then of the other.
  cell = first_cell + threadIdx.x;
  pair = first_pair + threadIdx.y;
  if (cell < cells && pair < pairs) {
    const float2 both = tile[threadIdx.x][threadIdx.y];
    output[(2 * pair) * cells + cell] = both.x;
    output[(2 * pair + 1) * cells + cell] = both.y;
  }
}

// The same backwards.
__global__ void __launch_bounds__(kTile* kTile)
    float2_to_chwn_kernel(const float* input,  // [2 * pairs][cells]
                          float2* output,      // [cells][pairs], pairs of images
                          int pairs, int cells) {
  __shared__ float2 tile[kTile][kTile + 1];  // [cell][pair]

  const int tiles_across = (pairs - 1) / kTile + 1;
  const int first_cell = blockIdx.x / tiles_across * kTile;
  const int first_pair = blockIdx.x % tiles_across * kTile;

  // Pairs of images again, and not of cells, though cells are the neighbours in this input: then N is
  // the number that has to be even in both directions, and not C * H * W, which is the layer's.
  int cell = first_cell + threadIdx.x;
  int pair = first_pair + threadIdx.y;
  if (cell < cells && pair < pairs) {
    tile[threadIdx.x][threadIdx.y] =
        make_float2(input[(2 * pair) * cells + cell], input[(2 * pair + 1) * cells + cell]);
  }
  __syncthreads();  // the tile is complete

  cell = first_cell + threadIdx.y;
  pair = first_pair + threadIdx.x;
  if (cell < cells && pair < pairs) {
    output[cell * pairs + pair] = tile[threadIdx.y][threadIdx.x];
  }
}

TransformKernel tiled();  // step 2

static int launch(const TransformCall& c) {
  // A float2 lies on a multiple of 8 bytes. If N is odd, every second row of CHWN begins between two
  // such places. Step 2 does not mind, and costs a few more requests, not more bytes.
  if (c.N % 2 != 0) return tiled().launch(c);

  const int pairs = c.N / 2;
  const int tiles = ((c.cells - 1) / kTile + 1) * ((pairs - 1) / kTile + 1);
  const dim3 threads(kTile, kTile);
  if (c.to_chwn) {
    float2_to_chwn_kernel<<<tiles, threads>>>(c.input, reinterpret_cast<float2*>(c.output), pairs,
                                              c.cells);
  } else {
    float2_to_nchw_kernel<<<tiles, threads>>>(reinterpret_cast<const float2*>(c.input), c.output,
                                              pairs, c.cells);
  }
  return cudaGetLastError();
}

TransformKernel tiled_float2() {
  return {.description = "two images with one access; tiles of 32 cells x 64 images",
          .launch = launch,
          .tiles = {{.N = 2}, {.N = 2 * kTile, .cells = kTile}}};
}

}  // namespace halo::layout_transform
