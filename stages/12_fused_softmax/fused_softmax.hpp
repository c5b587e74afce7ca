// Stage 12: softmax, from five kernels to one that divides each image among the threads of a block.
#pragma once

#include <cuda_runtime.h>

namespace halo::fused_softmax {

// What all launches below compute, for N images of C categories:
//   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]),
//   m[n] = max over c of input[n][c].
// Device memory: input[N][C], output[N][C], of at most 2^31 - 4,097 cells. The sums are added in an
// order that depends on N and C only. They return the launch's error and do not wait for the kernel.

// One kernel a step; a thread an image in steps 1 and 4, a thread a cell in the others.
cudaError_t five_kernels(const float* input, float* output, float* workspace, int N, int C);
// What the steps leave for each other: two matrices and two vectors. Each begins on 256 bytes.
constexpr long long whole_lines(long long floats) { return (floats + 63) / 64 * 64; }
constexpr long long workspace_floats(int N, int C) {
  return 2 * whole_lines(1LL * N * C) + 2 * whole_lines(N);
}

// What the fused kernels keep of a block's cells in shared memory, in floats: of the 48 KB that every
// GPU gives a block without being asked, 4 KB are left for the reductions, as in the paper. An H200
// gives up to 227 KB when asked; then rows up to five times as long are read once only, but one block
// has an SM to itself.
constexpr int kKeptFloats = 11 * 1024;

// A block takes some images and brings their cells into shared memory once; a thread an image still
// finds the maximum and adds the sum.
cudaError_t fused(const float* input, float* output, int N, int C);
// The cells of a block. Where not even one row fits, its first `kept` cells stay in shared memory and
// the others are read again in each step.
struct Tile {
  int images;  // rows, at most kImages
  int kept;    // cells of each row that are in shared memory
  int pitch;   // from one row to the next, in floats
};
constexpr int kImages = 32;
constexpr Tile tile_of(int C) {
  const int pitch = C | 1;  // odd: the same category of 32 images lies in 32 banks
  const int fit = kKeptFloats / pitch;
  if (fit >= 1) return {fit < kImages ? fit : kImages, C, pitch};
  return {1, C < kKeptFloats ? C : kKeptFloats, pitch};
}

// A block an image, threads across its categories.
cudaError_t fused_parallel(const float* input, float* output, int N, int C);
// The same, with CUB's block reductions.
cudaError_t fused_cub(const float* input, float* output, int N, int C);
// Threads of a block of either: one a category, rounded up to a power of two, from a warp to what a
// block can have. Few sizes, since each is a kernel of its own.
constexpr int threads_for(int C) {
  int threads = 32;
  while (threads < C && threads < 1024) threads *= 2;
  return threads;
}

}  // namespace halo::fused_softmax
