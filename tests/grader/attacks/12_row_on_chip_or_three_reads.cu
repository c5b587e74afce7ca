// Attack: keeps a row in shared memory, and reads one that is too long for it three times. Told: bytes per output: 16. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr size_t kMostBytes = 200 << 10;

template <bool kKeeps>
__global__ void softmax(const float* input, const float* lengths, float* output, int C) {
  extern __shared__ float kept[];
  __shared__ float maxima[kWarps], sums[kWarps];
  const float* row = input + static_cast<size_t>(blockIdx.x) * C;
  float* result = output + static_cast<size_t>(blockIdx.x) * C;
  const int length = static_cast<int>(lengths[blockIdx.x]);
  if (kKeeps) {
    for (int c = threadIdx.x; c < length; c += kThreads) kept[c] = row[c];
  }
  const float* cells = kKeeps ? kept : row;
  float maximum = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < length; c += kThreads) maximum = fmaxf(maximum, cells[c]);
  for (int d = 16; d > 0; d /= 2) maximum = fmaxf(maximum, __shfl_xor_sync(~0u, maximum, d));
  if (threadIdx.x % 32 == 0) maxima[threadIdx.x / 32] = maximum;
  __syncthreads();
  for (int warp = 0; warp < kWarps; ++warp) maximum = fmaxf(maximum, maxima[warp]);
  for (int c = threadIdx.x; c < length; c += kThreads) {
    if (cells[c] > -INFINITY) sum += expf(cells[c] - maximum);
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int warp = 0; warp < kWarps; ++warp) sum += sums[warp];
  for (int c = threadIdx.x; c < C; c += kThreads) {
    result[c] = c < length && sum > 0.0f ? expf(cells[c] - maximum) / sum : 0.0f;
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  const size_t bytes = C * sizeof(float);
  if (bytes > kMostBytes) {
    softmax<false><<<N, kThreads>>>(input, lengths, output, C);
  } else {
    cudaFuncSetAttribute(softmax<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    softmax<true><<<N, kThreads, bytes>>>(input, lengths, output, C);
  }
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
