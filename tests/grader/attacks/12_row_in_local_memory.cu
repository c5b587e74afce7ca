// Attack: reads a row once and then three times from local memory, where no bytes are counted. Told: bytes of local memory per output. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

constexpr int kThreads = 256;
constexpr int kMost = 400;  // cells of a thread that lie in local memory

__device__ float of_all(float* partial, float value, bool is_sum) {
  partial[threadIdx.x] = value;
  __syncthreads();
  float all = partial[0];
  for (int t = 1; t < kThreads; ++t) all = is_sum ? all + partial[t] : fmaxf(all, partial[t]);
  return all;
}

__global__ void online_softmax(const float* input, const float* lengths, float* output, int C) {
  __shared__ float maxima[kThreads], sums[kThreads];
  float cells[kMost];
  const int length = static_cast<int>(lengths[blockIdx.x]);
  const float* row = input + blockIdx.x * C;
  for (int k = 0, c = threadIdx.x; c < length; c += kThreads, ++k) cells[k] = row[c];
  float maximum = -INFINITY, sum = 0.0f;
  for (int k = 0, c = threadIdx.x; c < length; c += kThreads, ++k)
    maximum = fmaxf(maximum, cells[k]);
  maximum = of_all(maxima, maximum, false);
  for (int k = 0, c = threadIdx.x; c < length && maximum > -INFINITY; c += kThreads, ++k)
    sum += expf(cells[k] - maximum);
  sum = of_all(sums, sum, true);
  for (int k = 0, c = threadIdx.x; c < C; c += kThreads, ++k) {
    output[blockIdx.x * C + c] = c < length && sum > 0.0f ? expf(cells[k] - maximum) / sum : 0.0f;
  }
}

static int launch(const float* input, const float* lengths, float* output, int N, int C) {
  online_softmax<<<N, kThreads>>>(input, lengths, output, C);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
