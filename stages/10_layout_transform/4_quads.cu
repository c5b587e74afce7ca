// Stage 10, step 4: 16 bytes in both directions.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse.
// Changed    since 3 tiled_float2: a thread has 4 x 4 cells. It reads four rows of them, 16 bytes each, turns them in its
//            registers and puts four columns into the tile, 16 bytes each; so the tile is read in whole pieces
//            too. Four loads of a thread are under way at once. The tile's shape follows the batch: with
//            few images it is only as wide as the batch, and longer. Small transforms have no tile at all.
// Must cost  8 bytes per cell, in requests of 512 bytes; shared memory is written and read once, 16
//            bytes per lane, without a conflict. Where N or C * H * W is no multiple of four, step 5.
// Run        ./halo run 10_layout_transform --variant quads
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/10_layout_transform/shapes.h"

namespace halo::layout_transform {

// [doc:quads]
// Preconditions: rows and columns are multiples of four, both arrays are 16-byte aligned; a thread for every 4 x 4 cells
// of a tile, a block for each tile.
template <int kRows, int kColumns>
__global__ void __launch_bounds__(kRows* kColumns / 16)
    quads_kernel(const float4* __restrict__ input,  // [rows][columns / 4]
                 float4* __restrict__ output,       // [columns][rows / 4]
                 int rows, int columns, bool images_down) {
  constexpr int kThreads = kRows * kColumns / 16;
  constexpr int kAcross = kColumns / 4, kDown = kRows / 4;  // threads
  // The tile, turned: [column][kDown], four cells of a column together. Neighbouring threads write four columns further
  // on, which would be the same banks; so four columns begin a little later than they need to.
  constexpr int kShift = kQuadShift<kColumns>;
  __shared__ float4 tile[kColumns * kDown + kAcross * kShift];

  // Blocks that follow each other have the same cells of other images, and together whole rows of CHWN. A row of 300
  // images ends within a sector, of which two blocks write parts: the second before the L2 cache evicts it.
  const int tiles_down = (rows - 1) / kRows + 1, tiles_across = (columns - 1) / kColumns + 1;
  const int tile_row = images_down ? blockIdx.x % tiles_down : blockIdx.x / tiles_across;
  const int tile_column = images_down ? blockIdx.x / tiles_down : blockIdx.x % tiles_across;
  const int first_row = tile_row * kRows, first_column = tile_column * kColumns;
  const int across = threadIdx.x % kAcross, down = threadIdx.x / kAcross;
  const int row = first_row + 4 * down, column = first_column + 4 * across;
  float4 in[4] = {};
  if (row < rows && column < columns) {
#pragma unroll
    for (int i = 0; i < 4; ++i) in[i] = input[((long long)(row + i) * columns + column) / 4];
  }
  float4* const to = tile + 4 * across * kDown + down + across * kShift;
  to[0] = make_float4(in[0].x, in[1].x, in[2].x, in[3].x);
  to[kDown] = make_float4(in[0].y, in[1].y, in[2].y, in[3].y);
  to[2 * kDown] = make_float4(in[0].z, in[1].z, in[2].z, in[3].z);
  to[3 * kDown] = make_float4(in[0].w, in[1].w, in[2].w, in[3].w);
  __syncthreads();  // the tile is complete

  // Lanes have neighbouring pieces of a column, and then those of the next.
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = i * kThreads + threadIdx.x, c = at / kDown, d = at % kDown;
    if (first_column + c < columns && first_row + 4 * d < rows) {
      output[((long long)(first_column + c) * rows + first_row) / 4 + d] =
          tile[at + c / 4 * kShift];
    }
  }
}
// [/doc:quads]

// The same without a tile: what a thread has turned it stores, four lanes side by side 64 bytes, whole sectors.
// Preconditions: as above.
template <int kRows, int kColumns>
__global__ void __launch_bounds__(kRows* kColumns / 16)
    registers_kernel(const float4* __restrict__ input,  // [rows][columns / 4]
                     float4* __restrict__ output,       // [columns][rows / 4]
                     int rows, int columns, bool images_down) {
  constexpr int kAcross = kColumns / 4;
  const int tiles_down = (rows - 1) / kRows + 1, tiles_across = (columns - 1) / kColumns + 1;
  const int tile_row = images_down ? blockIdx.x % tiles_down : blockIdx.x / tiles_across;
  const int tile_column = images_down ? blockIdx.x / tiles_down : blockIdx.x % tiles_across;
  const int first_row = tile_row * kRows, first_column = tile_column * kColumns;
  const int row = first_row + threadIdx.x / kAcross * 4;
  const int column = first_column + threadIdx.x % kAcross * 4;
  if (row >= rows || column >= columns) return;
  float4 in[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) in[i] = input[((row + i) * columns + column) / 4];
  float4* const to = output + (column * rows + row) / 4;
  to[0] = make_float4(in[0].x, in[1].x, in[2].x, in[3].x);
  to[rows / 4] = make_float4(in[0].y, in[1].y, in[2].y, in[3].y);
  to[2 * (rows / 4)] = make_float4(in[0].z, in[1].z, in[2].z, in[3].z);
  to[3 * (rows / 4)] = make_float4(in[0].w, in[1].w, in[2].w, in[3].w);
}

int any_numbers(const TransformCall& c, const TileShape& shape);  // step 5

static int launch(const TransformCall& c) {
  const int rows = c.to_chwn ? c.N : c.cells;  // of the input
  const int columns = c.to_chwn ? c.cells : c.N;
  const TileShape shape = shape_of(rows, columns, c.to_chwn);
  if (shape.way == Way::runs || shape.way == Way::floats) return any_numbers(c, shape);

  using Kernel = void (*)(const float4*, float4*, int, int, bool);
  const Kernel kernel =
      shape.way == Way::registers
          ? registers_kernel<64, 16>
          : dispatch<64, 32, 128, 256, 16, 512, 8, 1024, 4>(shape.rows, [&](auto r) {
              // Tiles have 4,096 cells, but for 32 x 32, and 64 cells of up to 128 images.
              constexpr int kOther = r.value == 64 ? 128 : 4096 / r.value;
              constexpr int kSquare = r.value == 32                     ? 32
                                      : r.value == 64 || r.value == 128 ? 64
                                                                        : kOther;
              return dispatch<kSquare, kOther>(
                  shape.columns, [&](auto n) -> Kernel { return quads_kernel<r.value, n.value>; });
            });
  kernel<<<tiles_of(shape, rows, columns), shape.rows * shape.columns / 16>>>(
      reinterpret_cast<const float4*>(c.input), reinterpret_cast<float4*>(c.output), rows, columns,
      c.to_chwn);
  return cudaGetLastError();
}

TransformKernel quads() {
  return {.description = "4 x 4 cells per thread, 16 bytes in both directions",
          .launch = launch,
          .tuned = true,
          // The last is more than kFewCells, in tiles that are not full.
          .tiles = {{.N = 4, .cells = 4}, {.N = 64, .cells = 64}, {.N = 132, .cells = 4100}}};
}

}  // namespace halo::layout_transform
