// Stage 06, step 7: filters larger than shared memory, in pieces.
//
// Computes   output[n][k][p][q] = sum over c, r, s of
//                input[n][c][p * stride_h - padding_h + r][q * stride_w - padding_w + s]
//                * filters[k][c][r][s];
//            ghost cells are zero.
// Changed    since 6 filter_group: a filter whose tile and taps do not fit into shared memory at once is
//            worked through in pieces, whole rows of it or parts of one, each with the tile that it needs.
// Must cost  where all fits at once, what step 6 must. Else per piece a tile and its taps, and two
//            barriers: the halos of the tiles overlap, so cells are loaded as often as pieces need them.
// Run        ./halo run 06 --variant filter_pieces
#include <cuda_runtime.h>

#include "stages/06_conv2d_direct/filter_group.cuh"

namespace halo::conv2d_direct {

// How much of a filter's channel is worked through at a time: always one run in memory.
struct Piece {
  int rows, columns;  // taps
};

// Preconditions: blocks_of(layer) blocks of kTileColumns x kTileRows threads; dynamic shared memory holds
// the tile of a piece and its taps of kFilterGroup filters.
__global__ void filter_pieces_kernel(const float* input,    // [N][C][H][W]
                                     const float* filters,  // [K][C][R][S]
                                     float* output,         // [N][K][P][Q]
                                     const LayerNumbers layer, const Piece piece) {
  extern __shared__ float tile[];  // [tile_rows][tile_columns], then the taps

  const Corner corner = corner_of(layer);
  const int p = corner.p + threadIdx.y;
  const int q = corner.q + threadIdx.x;
  const bool has_output = p < layer.P && q < layer.Q;

  float sums[kFilterGroup] = {};
  for (int c = 0; c < layer.C; ++c) {
    const float* image = input + (corner.n * layer.C + c) * layer.H * layer.W;  // [H][W]
    // One turn of these two loops, unless the filters are large.
    for (int first_r = 0; first_r < layer.R; first_r += piece.rows) {
      for (int first_s = 0; first_s < layer.S; first_s += piece.columns) {
        const int rows = min(piece.rows, layer.R - first_r);
        const int columns = min(piece.columns, layer.S - first_s);
        const int tile_rows = (kTileRows - 1) * layer.stride_h + rows;
        const int tile_columns = (kTileColumns - 1) * layer.stride_w + columns;
        float* taps = tile + tile_rows * tile_columns;  // [kFilterGroup][rows][columns]
        // The place of tile[0][0] in the image; beyond its edges where there is padding.
        const int first_h = corner.p * layer.stride_h - layer.padding_h + first_r;
        const int first_w = corner.q * layer.stride_w - layer.padding_w + first_s;

        load_tile(tile, image, layer, tile_rows, tile_columns, first_h, first_w);
        // Each warp loads one filter's run; those of a short last group are not loaded, and not used.
        for (int g = threadIdx.y; g < kFilterGroup && corner.k + g < layer.K; g += kTileRows) {
          const float* filter = filters + ((corner.k + g) * layer.C + c) * layer.R * layer.S;
#pragma unroll 1
          for (int i = threadIdx.x; i < rows * columns; i += kTileColumns) {
            taps[g * rows * columns + i] = filter[first_r * layer.S + first_s + i];
          }
        }
        __syncthreads();  // tile and taps are complete

        if (has_output) {
          for (int r = 0; r < rows; ++r) {
            for (int s = 0; s < columns; ++s) {
              const int row = threadIdx.y * layer.stride_h + r;
              const int column = threadIdx.x * layer.stride_w + s;
              const float cell = tile[row * tile_columns + column];
#pragma unroll  // so that the sums are registers
              for (int g = 0; g < kFilterGroup; ++g) {
                if (corner.k + g >= layer.K) break;
                sums[g] += cell * taps[(g * rows + r) * columns + s];
              }
            }
          }
        }
        __syncthreads();  // nobody needs them any more
      }
    }
  }
  if (has_output) store(sums, output, layer, corner, p, q);
}

// 0 x 0 if not even single taps fit, which only strides of 8 and more can bring about.
static Piece largest_piece(const LayerNumbers& layer) {
  // All of R x S, or whole rows, or a part of a row: the largest with
  //   (7 * stride_h + rows) * (31 * stride_w + columns) + kFilterGroup * rows * columns <= kSharedFloats.
  const long long down = static_cast<long long>(kTileRows - 1) * layer.stride_h;
  const long long across = static_cast<long long>(kTileColumns - 1) * layer.stride_w;
  const long long S = layer.S;
  const long long rows = (kSharedFloats - down * (across + S)) / (across + S + kFilterGroup * S);
  if (rows >= 1) return {rows < layer.R ? static_cast<int>(rows) : layer.R, layer.S};
  const long long columns = (kSharedFloats - (down + 1) * across) / (down + 1 + kFilterGroup);
  if (columns >= 1) return {1, columns < S ? static_cast<int>(columns) : layer.S};
  return {0, 0};
}

static int launch(const LayerCall& c) {
  const LayerNumbers& layer = c.layer;
  const dim3 threads(kTileColumns, kTileRows);
  const Piece piece = largest_piece(layer);
  const size_t floats = ((kTileRows - 1) * layer.stride_h + piece.rows) *
                            ((kTileColumns - 1) * layer.stride_w + piece.columns) +
                        kFilterGroup * piece.rows * piece.columns;
  filter_pieces_kernel<<<blocks_of(layer), threads, floats * sizeof(float)>>>(
      c.input, c.filters, c.output, layer, piece);
  return cudaGetLastError();
}

static const char* refuses(const LayerNumbers& layer) {
  if (largest_piece(layer).rows > 0) return nullptr;
  return "with such strides not even the tile of a single tap fits into 48 KB of shared memory";
}

LayerKernel filter_pieces() {
  return {.description = "as filter_group, filters beyond 48 KB in pieces",
          .launch = launch,
          .refuses = refuses,
          .tiles = {{.K = kFilterGroup, .P = kTileRows, .Q = kTileColumns}},
          .multiplies_ghosts = true};
}

}  // namespace halo::conv2d_direct
