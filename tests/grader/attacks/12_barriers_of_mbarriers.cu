// Attack: waits five times a row, at barriers that are objects in shared memory. Told: barriers: . Points: 65
#include <cuda_runtime.h>

#include <cuda/barrier>

#include "common/exercise/exercise.h"

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ void combine(float& maximum, float& sum, float other_maximum, float other_sum) {
  const float larger = fmaxf(maximum, other_maximum);
  if (larger > -INFINITY)
    sum = sum * expf(maximum - larger) + other_sum * expf(other_maximum - larger);
  maximum = larger;
}

__global__ void online_softmax(const float* input, const float* lengths, float* output, int C) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) char place[sizeof(Barrier)];
  __shared__ float maxima[kWarps], sums[kWarps];
  Barrier& all = *reinterpret_cast<Barrier*>(place);
  if (threadIdx.x == 0) init(&all, kThreads);
  __syncthreads();
  const float* row = input + blockIdx.x * C;
  const int length = static_cast<int>(lengths[blockIdx.x]), t = threadIdx.x;
  float maximum = -INFINITY, sum = 0.0f;
  for (int c = t; c < length; c += kThreads) combine(maximum, sum, row[c], 1.0f);
  for (int distance = 16; distance > 0; distance /= 2) {
    combine(maximum, sum, __shfl_xor_sync(~0u, maximum, distance),
            __shfl_xor_sync(~0u, sum, distance));
  }
  if (t % 32 == 0) maxima[t / 32] = maximum, sums[t / 32] = sum;
  all.arrive_and_wait();
  for (int half = kWarps / 2; half > 0; half /= 2) {
    if (t < half) combine(maxima[t], sums[t], maxima[t + half], sums[t + half]);
    all.arrive_and_wait();
  }
  for (int c = t; c < C; c += kThreads) {
    output[blockIdx.x * C + c] =
        c < length && sums[0] > 0.0f ? expf(row[c] - maxima[0]) / sums[0] : 0.0f;
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  online_softmax<<<N, kThreads>>>(input, lengths, output, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
