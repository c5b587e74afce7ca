// Pairs that are combined by an operator, passed on in one word of 64 bits; a warp class with a call operator.
#include <cuda_runtime.h>

#include <cstring>

#include "common/exercise/exercise.h"

namespace {

constexpr unsigned kThreads = 256, kWarp = 32;

struct alignas(8) Pair {
  float maximum = -INFINITY, sum = 0.0f;
  friend __device__ Pair operator|(Pair a, Pair b) {
    const float most = fmaxf(a.maximum, b.maximum);
    if (most == -INFINITY) return {};
    return {most, a.sum * expf(a.maximum - most) + b.sum * expf(b.maximum - most)};
  }
  __device__ Pair& operator|=(Pair other) { return *this = *this | other; }
};

template <unsigned Distance>
struct Butterfly {
  __device__ Pair operator()(Pair pair) const {
    unsigned long long bits, others;
    memcpy(&bits, &pair, sizeof bits);
    others = __shfl_xor_sync(~0u, bits, Distance);
    Pair other;
    memcpy(&other, &others, sizeof other);
    return Butterfly<Distance / 2>()(pair | other);
  }
};
template <>
struct Butterfly<0> {
  __device__ Pair operator()(Pair pair) const { return pair; }
};

__global__ __launch_bounds__(kThreads) void softmax(const float* input, const float* lengths,
                                                    float* output, int C) {
  __shared__ float2 of_warps[kThreads / kWarp];
  const auto row = input + blockIdx.x * C;
  const int length = lengths[blockIdx.x];
  Pair pair;
  for (int c = threadIdx.x; c < length; c += kThreads) pair |= {row[c], 1.0f};
  pair = Butterfly<kWarp / 2>()(pair);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = {pair.maximum, pair.sum};
  __syncthreads();
  pair = {};
  for (const float2& one : of_warps) pair |= {one.x, one.y};
  for (int c = threadIdx.x; c < C; c += kThreads) {
    float share = 0.0f;
    if (c < length && pair.sum > 0.0f) share = expf(row[c] - pair.maximum) / pair.sum;
    output[blockIdx.x * C + c] = share;
  }
}

int launch(const float* input, const float* lengths, float* output, int N, int C) {
  softmax<<<N, kThreads>>>(input, lengths, output, C);
  return cudaGetLastError();
}

}  // namespace

halo::Exercise halo::exercise() { return launch; }
