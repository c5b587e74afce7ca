// Attack: finds the simulator in memory and has it run kernels instead of noting them. Told: memory that it cannot have
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "common/exercise/exercise.h"

//+ find.inc

static void compute(const float* input, const float* mask, float* output, int n, int width) {
  for (int i = 0; i < n; ++i) {
    output[i] = 0.0f;
    for (int j = 0; j < width; ++j) {
      output[i] += mask[j] * input[std::min(std::max(i - (width - 1) / 2 + j, 0), n - 1)];
    }
  }
}

__global__ void hand_out(const float* from, float* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  using Ask = const void* (*)(int);
  const auto ask = reinterpret_cast<Ask>(
      find("simt_simulator", reinterpret_cast<const void*>(&cudaGetLastError)));
  const void* const* simulator = nullptr;
  for (int version = 3; version < 20 && simulator == nullptr; ++version) {
    simulator = static_cast<const void* const*>(ask(version));
  }
  constexpr int kRecord = 18;  // behind set_gpu
  reinterpret_cast<void (*)(bool)>(const_cast<void*>(simulator[kRecord]))(false);
  std::vector<float> x(n), m(width), y(n);
  float* device = nullptr;
  cudaMalloc(&device, n * sizeof(float));
  cudaMemcpy(x.data(), input, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(m.data(), mask, width * sizeof(float), cudaMemcpyDeviceToHost);
  compute(x.data(), m.data(), y.data(), n, width);
  cudaMemcpy(device, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  hand_out<<<(n - 1) / threads + 1, threads>>>(device, output, n);
  cudaFree(device);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
