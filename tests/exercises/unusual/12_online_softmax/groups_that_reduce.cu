// Rows go to persistent groups of 32 lanes; cells come four at a time where a row begins on 16 bytes; cg::reduce with operators.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <cuda/std/cmath>
#include <cuda/std/cstdint>
#include <cuda/std/limits>

#include "common/exercise/exercise.h"

namespace cg = cooperative_groups;

struct Problem {
  const float* input;
  const float* lengths;
  float* output;
  int rows, columns;
};

template <class Visit>
__device__ void each_cell(const float* row, int count, int lane, Visit visit) {
  const bool is_aligned = reinterpret_cast<cuda::std::uintptr_t>(row) % sizeof(float4) == 0;
  const int quads = is_aligned ? count / 4 : 0;
  for (int q = lane; q < quads; q += 32) {
    const float4 four = reinterpret_cast<const float4*>(row)[q];
    for (const float cell : {four.x, four.y, four.z, four.w}) visit(cell);
  }
  for (int c = 4 * quads + lane; c < count; c += 32) visit(row[c]);
}

__global__ void online(const __grid_constant__ Problem problem) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int warps = gridDim.x * warp.meta_group_size();
  const int first = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  for (int n = first; n < problem.rows; n += warps) {
    const float* const row = problem.input + n * problem.columns;
    float* const result = problem.output + n * problem.columns;
    const int length = static_cast<int>(problem.lengths[n]), lane = warp.thread_rank();
    constexpr float kNone = -cuda::std::numeric_limits<float>::infinity();
    float maximum = kNone, sum = 0;
    each_cell(row, length, lane, [&](float cell) {
      if (cell == kNone) return;
      if (cell > maximum)
        sum = sum * cuda::std::exp(maximum - cell) + 1, maximum = cell;
      else
        sum += cuda::std::exp(cell - maximum);
    });
    const float whole = cg::reduce(warp, maximum, cg::greater<float>());
    const float share = maximum == kNone ? 0 : sum * cuda::std::exp(maximum - whole);
    const float total = cg::reduce(warp, share, cg::plus<float>());
    for (int c = lane; c < problem.columns; c += 32) {
      result[c] = c < length && total > 0 ? cuda::std::exp(row[c] - whole) / total : 0;
    }
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  int blocks = 0, multiprocessors = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, online, 128, 0);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  online<<<min(blocks * multiprocessors, (N + 3) / 4), 128>>>({input, lengths, output, N, C});
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
