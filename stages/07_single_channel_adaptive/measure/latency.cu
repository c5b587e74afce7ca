// Micro-benchmark: how long a load takes.
//
// Computes   where one thread stands after so many steps from cell to cell, and the cycles it took.
// Method     a pointer chase, as Mei & Chu ("Dissecting GPU memory hierarchy through
//            microbenchmarking"), whose figure Chang et al. use: each load says where the next one
//            is, so nothing can be under way at the same time. One thread, so that nobody else
//            disturbs; a random order, so that nothing can be foreseen.
// Must cost  one request of one sector for every step.
// Run        build/stages/07_single_channel_adaptive-cuda --measure
#include "stages/07_single_channel_adaptive/measure/kernels.hpp"

namespace halo::single_channel_adaptive::measure {

__global__ void chase_kernel(const unsigned* next,  // [cells], the index of the next cell
                             unsigned start, int warm_steps, int steps,
                             Chase* result) {  // [1]
  __shared__ volatile unsigned arrived;
  unsigned at = start;
  for (int i = 0; i < warm_steps; ++i) at = next[at];  // what fits a cache is there afterwards
  arrived = at;

  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) at = next[at];
  arrived = at;  // waits for the last load; without it the clock would be read before it arrives
  const long long end = clock64();

  result->last = arrived;
  result->padding = 0;
  result->cycles = end - begin;
}

cudaError_t chase(const unsigned* next, unsigned start, int warm_steps, int steps, Chase* result) {
  chase_kernel<<<1, 1>>>(next, start, warm_steps, steps, result);
  return cudaGetLastError();
}

}  // namespace halo::single_channel_adaptive::measure
