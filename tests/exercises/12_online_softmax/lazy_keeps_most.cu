// Lazy. Fails: each row is read at most twice
// No pairs: three passes, and what registers and shared memory can hold of the row is read once.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 1024, kInRegisters = 16, kInShared = 54'000;

__device__ float of_all(float value, bool is_sum, float* warps) {
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_xor_sync(0xffffffff, value, d);
    value = is_sum ? value + other : fmaxf(value, other);
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = warps[0];
  for (int w = 1; w < kThreads / 32; ++w)
    value = is_sum ? value + warps[w] : fmaxf(value, warps[w]);
  return value;
}

__global__ void __launch_bounds__(kThreads)
    kept(const float* input, const float* lengths, float* output, int C) {
  extern __shared__ float on_chip[];
  __shared__ float maxima[kThreads / 32], sums[kThreads / 32];
  const float* row = input + blockIdx.x * C;
  float* result = output + blockIdx.x * C;
  const int length = lengths[blockIdx.x], t = threadIdx.x;
  constexpr int kKept = kInRegisters * kThreads;
  float own[kInRegisters];
  float m = -INFINITY;
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) {
    const int c = i * kThreads + t;
    own[i] = c < length ? row[c] : -INFINITY;
    m = fmaxf(m, own[i]);
  }
  for (int c = kKept + t; c < length; c += kThreads) {
    const float x = row[c];
    if (c - kKept < kInShared) on_chip[c - kKept] = x;
    m = fmaxf(m, x);
  }
  m = of_all(m, false, maxima);
  const auto e = [&](float x) { return x == -INFINITY ? 0.0f : expf(x - m); };
  const auto cell = [&](int c) { return c - kKept < kInShared ? on_chip[c - kKept] : row[c]; };
  float s = 0.0f;
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) s += e(own[i]);
  for (int c = kKept + t; c < length; c += kThreads) s += e(cell(c));
  s = of_all(s, true, sums);
#pragma unroll
  for (int i = 0; i < kInRegisters; ++i) {
    const int c = i * kThreads + t;
    if (c < C) result[c] = c < length && s > 0 ? e(own[i]) / s : 0.0f;
  }
  for (int c = kKept + t; c < C; c += kThreads)
    result[c] = c < length && s > 0 ? e(cell(c)) / s : 0.0f;
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  cudaFuncSetAttribute(kept, cudaFuncAttributeMaxDynamicSharedMemorySize, kInShared * 4);
  kept<<<N, kThreads, kInShared * 4>>>(input, lengths, output, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
