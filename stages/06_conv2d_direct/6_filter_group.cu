// Stage 06, step 6: eight filters for each tile.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero.
// Changed    since 5 tile_shared: a block applies eight filters to the tile that it has loaded, and a
//            thread keeps eight sums. The image is read K/8 times instead of K times.
// Must cost  per block and channel one tile, and taps by 8 * ceil(R*S / 32) requests; per warp and
//            tap 1 shared read for the cells and 8 for the taps: 9 for 8 products, where step 5
//            needs 16.
// Run        ./halo run 06 --variant filter_group
#include <cuda_runtime.h>

#include "stages/06_conv2d_direct/filter_group.cuh"

namespace halo::conv2d_direct {

// Preconditions: blocks_of(layer) blocks of kTileColumns x kTileRows threads; dynamic shared memory holds
// the tile and the taps of kFilterGroup filters' channel.
__global__ void filter_group_kernel(const float* input,    // [N][C][H][W]
                                    const float* filters,  // [K][C][R][S]
                                    float* output,         // [N][K][P][Q]
                                    const LayerNumbers layer) {
  const int tile_rows = (kTileRows - 1) * layer.stride_h + layer.R;
  const int tile_columns = (kTileColumns - 1) * layer.stride_w + layer.S;
  extern __shared__ float tile[];  // [tile_rows][tile_columns], of the current channel
  float* taps = tile + tile_rows * tile_columns;  // [kFilterGroup][R][S], the same

  const Corner corner = corner_of(layer);
  const int p = corner.p + threadIdx.y;
  const int q = corner.q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;
  // The place of tile[0][0] in the image; beyond its edges where there is padding.
  const int first_h = corner.p * layer.stride_h - layer.padding_h;
  const int first_w = corner.q * layer.stride_w - layer.padding_w;

  float sums[kFilterGroup] = {};
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (corner.n * layer.C + c) * layer.H * layer.W;  // [H][W]
    load_tile(tile, image, layer, tile_rows, tile_columns, first_h, first_w);
    // Each warp loads one filter's taps; those of a short last group are not loaded, and not used.
    for (int g = threadIdx.y; g < kFilterGroup && corner.k + g < layer.K; g += kTileRows) {
      const float* filter = filters + ((corner.k + g) * layer.C + c) * layer.R * layer.S;  // [R][S]
#pragma unroll 1
      for (int i = threadIdx.x; i < layer.R * layer.S; i += kTileColumns) {
        taps[g * layer.R * layer.S + i] = filter[i];
      }
    }
    __syncthreads();  // tile and taps are complete

    if (has_output) {
      for (int r = 0; r < layer.R; ++r) {
        for (int s = 0; s < layer.S; ++s) {
          const int row = threadIdx.y * layer.stride_h + r;
          const int column = threadIdx.x * layer.stride_w + s;
          // [doc:sums]
          const float cell = tile[row * tile_columns + column];
#pragma unroll  // so that the sums are registers
          for (int g = 0; g < kFilterGroup; ++g) {
            if (corner.k + g >= layer.K) break;
            sums[g] += cell * taps[(g * layer.R + r) * layer.S + s];
          }
          // [/doc:sums]
        }
      }
    }
    __syncthreads();  // nobody needs them any more: the next channel may overwrite them
  }
  if (has_output) store(sums, output, layer, corner, p, q);
}

// The tile and the taps.
static long long shared_floats(const LayerNumbers& layer) {
  return ((kTileRows - 1LL) * layer.stride_h + layer.R) *
             ((kTileColumns - 1LL) * layer.stride_w + layer.S) +
         1LL * kFilterGroup * layer.R * layer.S;
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const dim3 threads(kTileColumns, kTileRows);
  const size_t bytes = shared_floats(layer) * sizeof(float);
  const auto stream = static_cast<cudaStream_t>(c.stream);
  filter_group_kernel<<<blocks_of(layer), threads, bytes, stream>>>(c.input, c.filters, c.output,
                                                                    layer);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (shared_floats(layer) <= kSharedFloats) return nullptr;
  return "its tile and eight filters' taps must fit into 48 KB of shared memory";
}

LayerKernel filter_group() {
  return {.description = "eight filters for each tile that is loaded",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.K = kFilterGroup, .P = kTileRows, .Q = kTileColumns}},
          .multiplies_ghosts = true};
}

}  // namespace halo::conv2d_direct
