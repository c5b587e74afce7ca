// How the fused kernels of stage 12 divide the images among blocks.
#pragma once

namespace halo::fused_softmax {

// What the fused kernels keep of a block's cells in shared memory, in floats: of the 48 KB that every
// GPU gives a block by default, 4 KB are left for the reductions, as in the paper. An H200
// gives up to 227 KB when asked; then rows up to five times as long are read once only, but one block
// has an SM to itself.
constexpr int kKeptFloats = 11 * 1024;

// Step 2: the cells of a block. Where not even one row fits, its first `kept` cells stay in shared
// memory and the others are read again in each step.
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

// Steps 3 and 4: threads of a block, one per category, rounded up to a power of two, from a
// warp to what a block can have. Few sizes, since each is a kernel of its own.
constexpr int kMaxThreads = 1024;
constexpr int threads_for(int C) {
  int threads = 32;
  while (threads < C && threads < kMaxThreads) threads *= 2;
  return threads;
}

#ifdef __CUDACC__
// Calls use(c) for the cells of `count` that are a thread's own: every kThreads-th from its number on. nvcc takes four turns
// at once, so those that not all threads have come last: else lanes with one more would diverge from the others.
template <int kThreads, class Use>
__device__ __forceinline__ void for_own_cells(int count, Use use) {
  const int full = count / kThreads * kThreads;
  for (int c = threadIdx.x; c < full; c += kThreads) use(c);
  if (full + static_cast<int>(threadIdx.x) < count) use(full + static_cast<int>(threadIdx.x));
}
#endif

}  // namespace halo::fused_softmax
