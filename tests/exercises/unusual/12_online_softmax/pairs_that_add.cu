// Pairs have an operator +, warps reduce them by CUB, and the last step is a thread's own loop.
#include <cuda_runtime.h>

#include <cub/warp/warp_reduce.cuh>
#include <cuda/std/functional>

#include "common/exercise/exercise.h"

struct Pair {
  float maximum = -INFINITY, sum = 0.0f;
  __device__ friend Pair operator+(Pair a, Pair b) {
    const float m = fmaxf(a.maximum, b.maximum);
    if (m == -INFINITY) return {};
    return {m, a.sum * expf(a.maximum - m) + b.sum * expf(b.maximum - m)};
  }
};

template <int kWarps>
__global__ void online_softmax(const float* input, const float* lengths, float* output, int C) {
  using Reduce = cub::WarpReduce<Pair>;
  __shared__ typename Reduce::TempStorage storage[kWarps];
  __shared__ float of_warps[2][kWarps];
  const float* row = input + blockIdx.x * C;
  const int length = static_cast<int>(lengths[blockIdx.x]), warp = threadIdx.x / 32;
  Pair pair;
  for (int c = threadIdx.x; c < length; c += 32 * kWarps) pair = pair + Pair{row[c], 1.0f};
  pair = Reduce(storage[warp]).Reduce(pair, cuda::std::plus<>());
  if (threadIdx.x % 32 == 0) {
    of_warps[0][warp] = pair.maximum;
    of_warps[1][warp] = pair.sum;
  }
  __syncthreads();
  Pair all;
  for (int w = 0; w < kWarps; ++w) all = all + Pair{of_warps[0][w], of_warps[1][w]};
  for (int c = threadIdx.x; c < C; c += 32 * kWarps) {
    output[blockIdx.x * C + c] =
        c < length && all.sum > 0.0f ? expf(row[c] - all.maximum) / all.sum : 0.0f;
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  if (C > 512) {
    online_softmax<16><<<N, 512>>>(input, lengths, output, C);
  } else {
    online_softmax<2><<<N, 64>>>(input, lengths, output, C);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
