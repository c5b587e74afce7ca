// What a block of winograd_apart.cu's products does of a chunk, 32 channels of two matrices: it comes on chip, and is
// multiplied.
//
//   a chunk on chip    filters [kChannels][kFilters] and tiles [kChannels][kTiles], each twice: one is multiplied, the
//                      other on its way
//   a warp's lanes     4 x 8: lane l in row l / 2 % 2 + l / 16 * 2 and column l % 2 + l / 4 % 4 * 2. Each has one or two
//                      runs of four filters and of four tiles, so many rows or columns of lanes apart
#pragma once

#include "common/convolve/winograd/division.hpp"
#include "common/harness/async_copy.h"
#include "common/harness/kernel.h"

namespace halo::convolve {

// One of kApartBlocks, as constants. Of a warp's lanes 4 have filters and 8 have tiles beside each other (the other way
// round where a block has few tiles), in runs of four, one or two. Of eight neighbouring lanes only four (two) read
// different tiles (filters): a float4 for all lanes then takes two passes, and four if all differ.
template <int kBlock>
struct ApartProducts {
  static constexpr ApartBlock kIs = kApartBlocks[kBlock];
  static constexpr int kFilters = kIs.filters, kTiles = kIs.tiles, kChannels = kApartChannels;
  static constexpr int kRows = kIs.rows, kColumns = kIs.columns, kThreads = kIs.threads();
  static constexpr bool kManyTiles = kTiles >= 32;
  // From a lane's first run to its second.
  static constexpr int kFilterRun = 4 * (kManyTiles ? 4 : 8), kTileRun = 4 * (kManyTiles ? 8 : 4);
  static constexpr int kAcross = kTiles / (kColumns / 4 * kTileRun);  // warps beside each other
};

// A thread's share in copying a matrix to shared memory, chunk after chunk: one column, 16 bytes wide, of every
// kStep-th row, from here on. Where its column does not exist it has no rows, and of rows that do not exist the zeros
// come without a read. (Computing each address again cost a tenth of the kernel's time.)
template <int kWidth, int kThreads>
struct ChunkCopies {
  static constexpr int kPieces = kWidth / 4, kStep = kThreads / kPieces;

  const float* const matrix;  // [C][pitch]
  const int pitch;
  int rows;  // from `next` on
  const float* next;

  __device__ ChunkCopies(const float* from, int row_pitch, int C, int first_column, int thread)
      : matrix(from), pitch(row_pitch) {
    const int row = thread / kPieces, column = first_column + thread % kPieces * 4;
    next = matrix + row * pitch + column;
    rows = column < pitch ? C - row : 0;
  }

  __device__ void copy_next(float* chunk,  // [kApartChannels][kWidth]
                            int thread) {
#pragma unroll
    for (int i = 0; i < kApartChannels; i += kStep) {
      const bool exists = i < rows;
      copy_or_zero_async<16>(chunk + i * kWidth + 4 * thread, exists ? next + i * pitch : matrix,
                             exists);
    }
    next += kApartChannels * pitch;
    rows -= kApartChannels;
  }
};

// Adds a chunk's products to a lane's sums.
template <class B>
__device__ inline void multiply_chunk(
    const float* weights,  // [kChannels][kFilters]: the lane's first
    const float* tiles,    // [kChannels][kTiles], likewise
    float (&own)[B::kRows][B::kColumns]) {
  // What a lane multiplies next is read while it multiplies: in turns, so that no read is waited for.
  float filter[2][B::kRows], tile[2][B::kColumns];
  const auto read = [&](int c, int turn) {
#pragma unroll
    for (int i = 0; i < B::kRows; i += 4) {
      *reinterpret_cast<float4*>(filter[turn % 2] + i) =
          *reinterpret_cast<const float4*>(weights + c * B::kFilters + i / 4 * B::kFilterRun);
    }
#pragma unroll
    for (int i = 0; i < B::kColumns; i += 4) {
      *reinterpret_cast<float4*>(tile[turn % 2] + i) =
          *reinterpret_cast<const float4*>(tiles + c * B::kTiles + i / 4 * B::kTileRun);
    }
  };
  read(0, 0);
  // Eight channels without a branch: the code of all 32 would not fit the instruction cache.
#pragma unroll 1
  for (int first = 0; first < B::kChannels; first += 8) {
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      if (first + c + 1 < B::kChannels) read(first + c + 1, c + 1);
        // Back and forth: then a multiply-add shares a factor with the one before at the turns,
        // too, and need not read it from the registers, of which it can read only two at once.
#pragma unroll
      for (int i = 0; i < B::kRows; ++i) {
#pragma unroll
        for (int step = 0; step < B::kColumns; ++step) {
          const int j = i % 2 == 0 ? step : B::kColumns - 1 - step;
          own[i][j] += filter[c % 2][i] * tile[c % 2][j];
        }
      }
    }
  }
}

}  // namespace halo::convolve
