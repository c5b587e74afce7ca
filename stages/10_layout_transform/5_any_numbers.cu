// Stage 10, step 5: any number of images, and of cells.
//
// Computes   output[n][c][h][w] = input[c][h][w][n] (CHWN to NCHW), or the reverse.
// Changed    since 4 quads: with a number of images that is no multiple of four, rows of CHWN begin anywhere. But 64 of them,
//            one after the other, begin on 16 bytes: a block has whole rows, all images of 64 cells, and moves them as
//            one run. In NCHW it moves four cells of an image at a time.
// Must cost  8 bytes per cell, in requests of 512 bytes on the side of CHWN. With more than 192
//            images, or where the number of cells is no multiple of four, four bytes at a time.
// Run        ./halo run 10_layout_transform --variant quads --problem 13-33-64-to-nchw
#include <cuda_runtime.h>

#include "common/harness/kernel.h"
#include "stages/10_layout_transform/shapes.h"

namespace halo::layout_transform {

// Preconditions of both: cells is a multiple of four, both arrays are 16-byte aligned; a block of kRunThreads for every
// kRunCells cells, with kRunCells * N floats of shared memory. Four cells further on are 4 * N floats: an odd N puts eight
// lanes into eight different banks of every four.
__global__ void __launch_bounds__(kRunThreads)
    runs_to_nchw_kernel(const float* __restrict__ input,  // [cells][N]
                        float* __restrict__ output,       // [N][cells]
                        int N, int cells) {
  extern __shared__ float4 run[];  // [kRunCells][N], as it lies in memory
  const float* const tile = reinterpret_cast<const float*>(run);
  const int first = blockIdx.x * kRunCells;
  const float4* const from = reinterpret_cast<const float4*>(input + (long long)first * N);
  const int pieces = min(kRunCells, cells - first) / 4 * N;
#pragma unroll 1
  for (int i = threadIdx.x; i < pieces; i += kRunThreads) run[i] = from[i];
  __syncthreads();  // the run is complete

#pragma unroll 1
  for (int i = threadIdx.x; i < kRunCells / 4 * N; i += kRunThreads) {
    const int cell = i % (kRunCells / 4) * 4, n = i / (kRunCells / 4);
    if (first + cell >= cells) continue;
    const float* const four = tile + cell * N + n;  // N apart
    *reinterpret_cast<float4*>(output + (long long)n * cells + first + cell) =
        make_float4(four[0], four[N], four[2 * N], four[3 * N]);
  }
}

__global__ void __launch_bounds__(kRunThreads)
    runs_to_chwn_kernel(const float* __restrict__ input,  // [N][cells]
                        float* __restrict__ output,       // [cells][N]
                        int N, int cells) {
  extern __shared__ float4 run[];
  float* const tile = reinterpret_cast<float*>(run);
  const int first = blockIdx.x * kRunCells;
#pragma unroll 1
  for (int i = threadIdx.x; i < kRunCells / 4 * N; i += kRunThreads) {
    const int cell = i % (kRunCells / 4) * 4, n = i / (kRunCells / 4);
    if (first + cell >= cells) continue;
    const float4 in = *reinterpret_cast<const float4*>(input + (long long)n * cells + first + cell);
    float* const four = tile + cell * N + n;
    four[0] = in.x;
    four[N] = in.y;
    four[2 * N] = in.z;
    four[3 * N] = in.w;
  }
  __syncthreads();

  float4* const to = reinterpret_cast<float4*>(output + (long long)first * N);
  const int pieces = min(kRunCells, cells - first) / 4 * N;
#pragma unroll 1
  for (int i = threadIdx.x; i < pieces; i += kRunThreads) to[i] = run[i];
}

// Any numbers of rows and columns: tiles of kFloats x kFloats, four bytes at a time, eight loads of a thread at once. With
// one row, or one column, nothing is turned and the tile is long instead.
template <int kRows, int kColumns>
__global__ void __launch_bounds__(kFloatThreads)
    floats_kernel(const float* __restrict__ input,  // [rows][columns]
                  float* __restrict__ output,       // [columns][rows]
                  int rows, int columns, bool images_down) {
  constexpr int kEach = kRows * kColumns / kFloatThreads;
  constexpr int kPitch = kColumns + 1;  // as in step 2
  __shared__ float tile[kRows * kPitch];

  const int tiles_down = (rows - 1) / kRows + 1, tiles_across = (columns - 1) / kColumns + 1;
  const int tile_row = images_down ? blockIdx.x % tiles_down : blockIdx.x / tiles_across;
  const int tile_column = images_down ? blockIdx.x / tiles_down : blockIdx.x % tiles_across;
  const int first_row = tile_row * kRows, first_column = tile_column * kColumns;
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

int any_numbers(const TransformCall& c, const TileShape& shape) {
  const int rows = c.to_chwn ? c.N : c.cells;  // of the input
  const int columns = c.to_chwn ? c.cells : c.N;
  const int blocks = tiles_of(shape, rows, columns);
  if (shape.way == Way::runs) {
    const auto kernel = c.to_chwn ? runs_to_chwn_kernel : runs_to_nchw_kernel;
    kernel<<<blocks, kRunThreads, kRunCells * c.N * sizeof(float)>>>(c.input, c.output, c.N,
                                                                     c.cells);
  } else {
    const auto kernel = shape.rows == kFloats  ? floats_kernel<kFloats, kFloats>
                        : shape.rows > kFloats ? floats_kernel<kFloats * kFloats / 8, 8>
                                               : floats_kernel<8, kFloats * kFloats / 8>;
    kernel<<<blocks, kFloatThreads>>>(c.input, c.output, rows, columns, c.to_chwn);
  }
  return cudaGetLastError();
}

}  // namespace halo::layout_transform
