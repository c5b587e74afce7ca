// Right: a warp for each row, which needs neither shared memory nor a barrier.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kWarp = 32;
constexpr int kThreads = 128;

// Preconditions: gridDim.x * kThreads / kWarp >= N.
__global__ void online_softmax(const float* input, const float* lengths, float* output, int N,
                               int C) {
  const int n = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (n >= N) return;  // the whole warp
  const float* row = input + n * C;
  const int length = static_cast<int>(lengths[n]);

  float maximum = -INFINITY;
  float sum = 0.0f;
  for (int c = lane; c < length; c += kWarp) {
    const float x = row[c];
    if (x == -INFINITY) continue;
    const float larger = fmaxf(maximum, x);
    sum = sum * expf(maximum - larger) + expf(x - larger);
    maximum = larger;
  }
  float largest = maximum;
  for (int distance = 1; distance < kWarp; distance *= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
  }
  sum = largest > -INFINITY ? sum * expf(maximum - largest) : 0.0f;
  for (int distance = 1; distance < kWarp; distance *= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  }
  for (int c = lane; c < C; c += kWarp) {
    output[n * C + c] = c < length && sum > 0.0f ? expf(row[c] - largest) / sum : 0.0f;
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  const int warps = kThreads / kWarp;
  online_softmax<<<(N - 1) / warps + 1, kThreads>>>(input, lengths, output, N, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
