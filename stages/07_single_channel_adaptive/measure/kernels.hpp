// Micro-benchmarks of what stage 07's planner must know of a GPU and no device says of itself.
#pragma once

#include <cuda_runtime.h>

namespace halo::single_channel_adaptive::measure {

/// What one thread found that went from cell to cell.
struct Chase {
  unsigned last;  // where it stood at the end
  unsigned padding;
  long long cycles;  // of its SM's clock, for `steps` loads
};

/// One thread goes `warm_steps` and then `steps` loads along next, each of which says where the next
/// one is: next[at], an index of next. Device memory: next[...], result[1]. Returns the launch's
/// error.
cudaError_t chase(const unsigned* next, unsigned start, int warm_steps, int steps, Chase* result);

/// Reads the segments of data, neighbouring runs of `lanes` floats (8, 16 or 32: 32, 64 or 128
/// bytes), each of the 2^log2_segments once: by `lanes` neighbouring threads, one float each,
/// scattered over the array or in order. Thread t's sum is sums[t]. 2^log2_segments is at least
/// segments_of_block(lanes). Returns the launch's error.
cudaError_t segments(const float* data, float* sums, int lanes, int log2_segments, bool scattered);

inline constexpr int kSegmentThreads = 256;  // of a block
inline constexpr int kReads = 16;            // of a thread: as many are under way at a time
/// Segments that one block reads.
constexpr int segments_of_block(int lanes) { return kSegmentThreads / lanes * kReads; }

/// The place of the i-th segment: a number below 2^bits, another for every i below 2^bits, and
/// with no pattern that a DRAM would notice.
__host__ __device__ inline unsigned scattered_place(unsigned i, int bits) {
  // Each line maps the numbers of so many bits one to one: an odd factor, and a shift that a second
  // would undo.
  const unsigned mask = (1u << bits) - 1u;
  const int half = (bits + 1) / 2;
  i = (i * 0x9E3779B1u) & mask;
  i ^= i >> half;
  i = (i * 0x85EBCA77u) & mask;
  i ^= i >> half;
  return i;
}

}  // namespace halo::single_channel_adaptive::measure
