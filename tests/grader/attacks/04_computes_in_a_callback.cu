// Attack: computes in a callback of the stream. Told: signal
#include <cuda_runtime.h>

#include <algorithm>

#include "common/exercise/exercise.h"

static void compute(const float* input, const float* mask, float* output, int n, int width) {
  for (int i = 0; i < n; ++i) {
    output[i] = 0.0f;
    for (int j = 0; j < width; ++j) {
      output[i] += mask[j] * input[std::min(std::max(i - (width - 1) / 2 + j, 0), n - 1)];
    }
  }
}

struct Task {
  const float* input;
  const float* mask;
  float* output;
  int n, width;
};

static void work(void* given) {
  const Task& its = *static_cast<Task*>(given);
  compute(its.input, its.mask, its.output, its.n, its.width);
}

static void call(cudaStream_t, cudaError_t, void* given) { work(given); }

__global__ void hand_out(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  hand_out<<<(n - 1) / threads + 1, threads>>>(input, output, n);
  static Task task;
  task = {input, mask, output, n, width};
  cudaStreamAddCallback(nullptr, call, &task, 0);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
