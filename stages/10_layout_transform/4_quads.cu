// Stage 10, step 4: 16 bytes in both directions.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse.
// Changed    since 3 tiled_float2: a thread has 4 x 4 cells. It reads four rows of them, 16 bytes each, turns them in its
//            registers and puts four columns into the tile, 16 bytes each; so the tile is read in whole pieces too. Four
//            loads of a thread are on their way at once. The tile's shape follows the batch: with few images it is as
//            many images wide and the longer for it.
// Must cost  8 bytes a cell, in requests of 512 bytes; shared memory is written and read once, 16 bytes a lane, without
//            a conflict. If neither N nor C * H * W is a multiple of four, four bytes at a time.
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
                 int rows, int columns) {
  constexpr int kThreads = kRows * kColumns / 16;
  constexpr int kAcross = kColumns / 4, kDown = kRows / 4;  // threads
  // The tile, turned: [column][kDown], four cells of a column together. Neighbouring threads write four columns further
  // on, which would be the same banks; so four columns begin a little later than they need to.
  constexpr int kShift = kQuadShift<kColumns>;
  __shared__ float4 tile[kColumns * kDown + kAcross * kShift];

  const int tiles_across = (columns - 1) / kColumns + 1;
  const int first_row = blockIdx.x / tiles_across * kRows;
  const int first_column = blockIdx.x % tiles_across * kColumns;

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
    const int at = i * kThreads + threadIdx.x;
    const int c = at / kDown, d = at % kDown;
    if (first_column + c < columns && first_row + 4 * d < rows) {
      output[((long long)(first_column + c) * rows + first_row) / 4 + d] =
          tile[at + c / 4 * kShift];
    }
  }
}
// [/doc:quads]

// [doc:floats]
// Any numbers of rows and columns: tiles of kFloats x kFloats, four bytes at a time, eight loads of a thread at once. With
// one row, or one column, nothing is turned and the tile is long instead.
template <int kRows, int kColumns>
__global__ void __launch_bounds__(kFloatThreads)
    floats_kernel(const float* __restrict__ input,  // [rows][columns]
                  float* __restrict__ output,       // [columns][rows]
                  int rows, int columns) {
  constexpr int kEach = kRows * kColumns / kFloatThreads;
  constexpr int kPitch = kColumns + 1;  // as in step 2
  __shared__ float tile[kRows * kPitch];

  const int tiles_across = (columns - 1) / kColumns + 1;
  const int first_row = blockIdx.x / tiles_across * kRows;
  const int first_column = blockIdx.x % tiles_across * kColumns;
  float in[kEach];
  const auto exists = [&](int row, int column) {
    return first_row + row < rows && first_column + column < columns;
  };
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = (i * kFloatThreads + threadIdx.x) / kColumns, column = threadIdx.x % kColumns;
    if (exists(row, column))
      in[i] = input[(long long)(first_row + row) * columns + first_column + column];
  }
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = (i * kFloatThreads + threadIdx.x) / kColumns, column = threadIdx.x % kColumns;
    if (exists(row, column)) tile[row * kPitch + column] = in[i];
  }
  __syncthreads();  // the tile is complete
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = threadIdx.x % kRows, column = (i * kFloatThreads + threadIdx.x) / kRows;
    if (exists(row, column)) {
      output[(long long)(first_column + column) * rows + first_row + row] =
          tile[row * kPitch + column];
    }
  }
}
// [/doc:floats]

static int launch(const TransformCall& c) {
  const int rows = c.to_chwn ? c.N : c.cells;  // of the input
  const int columns = c.to_chwn ? c.cells : c.N;
  const TileShape shape = shape_of(rows, columns);
  const int blocks = tiles_of(shape, rows, columns);
  if (shape.by_fours) {
    const auto input = reinterpret_cast<const float4*>(c.input);
    const auto output = reinterpret_cast<float4*>(c.output);
    using Kernel = void (*)(const float4*, float4*, int, int);
    const Kernel kernel = dispatch<64, 32, 128, 256, 16, 512, 8, 1024, 4>(shape.rows, [&](auto r) {
      constexpr int kOther = r.value == 64 ? 64 : 4096 / r.value;
      return dispatch < r.value == 32 ? 32 : kOther,
             kOther >
                 (shape.columns, [&](auto n) -> Kernel { return quads_kernel<r.value, n.value>; });
    });
    kernel<<<blocks, shape.rows * shape.columns / 16>>>(input, output, rows, columns);
  } else {
    const auto kernel = shape.rows == kFloats  ? floats_kernel<kFloats, kFloats>
                        : shape.rows > kFloats ? floats_kernel<kFloats * kFloats / 8, 8>
                                               : floats_kernel<8, kFloats * kFloats / 8>;
    kernel<<<blocks, kFloatThreads>>>(c.input, c.output, rows, columns);
  }
  return cudaGetLastError();
}

TransformKernel quads() {
  return {.description = "4 x 4 cells a thread, 16 bytes in both directions",
          .launch = launch,
          .tuned = true,
          .tiles = {{.N = 32, .cells = 128}, {.N = 64, .cells = 64}, {.N = 8, .cells = 512}}};
}

}  // namespace halo::layout_transform
