// The copy that is the roof: copy.hpp says what it is for.
#include <cuda_runtime.h>

#include "common/harness/backend/copy.hpp"

namespace halo {

namespace {

// One vector of 16 bytes a thread, and small blocks. 2,048 threads a multiprocessor have 32 KiB under
// way, enough to hide the latency, and blocks start in the order of the arrays, so that the reads and
// writes of one moment lie close together in memory. More does not help: on an H200, a billion cells,
// two vectors a thread take 1 % longer and four 5 %, blocks of 1,024 threads 4 %, a grid that stays and
// loops 7 %; streaming loads and stores (cs) change nothing.
constexpr int kThreads = 128;

// Preconditions: from and to + `head` cells are aligned to a Vector. head and tail are smaller than
// kThreads. gridDim.x * kThreads >= vectors.
template <typename Vector>
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const float* from,  // [head + vectors * cells of a Vector + tail]
                float* to,          // the same, written
                long long vectors, int head, int tail) {
  constexpr int kCells = sizeof(Vector) / sizeof(float);
  const int thread = static_cast<int>(threadIdx.x);
  const auto* sources = reinterpret_cast<const Vector*>(from + head);
  auto* targets = reinterpret_cast<Vector*>(to + head);

  const long long v = static_cast<long long>(blockIdx.x) * kThreads + thread;
  if (v < vectors) targets[v] = sources[v];

  if (blockIdx.x == 0) {
    if (thread < head) to[thread] = from[thread];
    const long long tail_start = head + vectors * kCells;
    if (thread < tail) to[tail_start + thread] = from[tail_start + thread];
  }
}

// Cells until the next multiple of 16 bytes.
int cells_to_boundary(const float* at) {
  constexpr int kCells = sizeof(float4) / sizeof(float);
  const auto cell = reinterpret_cast<std::uintptr_t>(at) / sizeof(float);
  return static_cast<int>((kCells - cell % kCells) % kCells);
}

template <typename Vector>
void start(const float* from, float* to, std::int64_t count, int head) {
  constexpr int kCells = sizeof(Vector) / sizeof(float);
  const std::int64_t vectors = (count - head) / kCells;
  const auto tail = static_cast<int>((count - head) % kCells);
  const auto blocks = static_cast<unsigned>(max(std::int64_t{1}, (vectors - 1) / kThreads + 1));
  copy_kernel<Vector><<<blocks, kThreads, 0, cudaStreamPerThread>>>(from, to, vectors, head, tail);
}

}  // namespace

int launch_copy(const float* from, float* to, std::int64_t count) {
  if (count <= 0) return cudaSuccess;
  const int head = cells_to_boundary(to);
  if (cells_to_boundary(from) == head) {
    start<float4>(from, to, count, static_cast<int>(min(std::int64_t{head}, count)));
  } else {
    start<float>(from, to, count, 0);
  }
  return cudaGetLastError();
}

}  // namespace halo
