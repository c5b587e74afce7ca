// The roofs of a GPU that are not a copy: roofs.hpp says what they are for.
#include <cuda_runtime.h>

#include "common/harness/backend/roofs.hpp"

namespace halo {

namespace {

constexpr int kThreads = 512;
constexpr int kBlocksPerMultiprocessor = 4;  // 2,048 threads: as many as a multiprocessor holds
constexpr int kChains =
    8;  // independent sums a thread: an add waits four cycles for the one before
constexpr int kUnrolled = 8;

// factor and term are arguments, so that the compiler cannot work the sums out.
__global__ void __launch_bounds__(kThreads)
    multiply_adds_kernel(float* sink, int turns, float factor, float term) {
  float sums[kChains];
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) sums[chain] = threadIdx.x + chain;
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int again = 0; again < kUnrolled; ++again) {
#pragma unroll
      for (int chain = 0; chain < kChains; ++chain) sums[chain] = fmaf(sums[chain], factor, term);
    }
  }
  float all = 0;
#pragma unroll
  for (int chain = 0; chain < kChains; ++chain) all += sums[chain];
  if (all == 0.125f)
    *sink = all;  // never true, but the compiler does not know: nothing is left out
}

__global__ void nothing_kernel() {}

__global__ void clock_probe_kernel(unsigned long long* seen, unsigned long long nanoseconds) {
  unsigned long long start;
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  const long long first = clock64();
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
  seen[0] = clock64() - first;
  seen[1] = now - start;
}

}  // namespace

int launch_multiply_adds(float* sink, int multiprocessors, int turns) {
  multiply_adds_kernel<<<multiprocessors * kBlocksPerMultiprocessor, kThreads>>>(sink, turns,
                                                                                 0.999f, 0.001f);
  return cudaGetLastError();
}

double multiply_add_flops(int multiprocessors, int turns) {
  return 2.0 * multiprocessors * kBlocksPerMultiprocessor * kThreads * turns * kUnrolled * kChains;
}

int launch_nothing() {
  nothing_kernel<<<1, 1>>>();
  return cudaGetLastError();
}

int launch_clock_probe(std::uint64_t* seen, std::uint64_t nanoseconds) {
  clock_probe_kernel<<<1, 1>>>(reinterpret_cast<unsigned long long*>(seen), nanoseconds);
  return cudaGetLastError();
}

}  // namespace halo
