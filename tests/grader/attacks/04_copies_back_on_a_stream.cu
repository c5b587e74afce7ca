// Attack: the same on a stream of its own. Told: cudaMemcpyAsync copies device memory to the host
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "common/exercise/exercise.h"

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
  std::vector<float> x(n), m(width), y(n);
  float* device = nullptr;
  cudaMalloc(&device, n * sizeof(float));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemcpyAsync(x.data(), input, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(m.data(), mask, width * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  compute(x.data(), m.data(), y.data(), n, width);
  cudaMemcpy(device, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  hand_out<<<(n - 1) / threads + 1, threads>>>(device, output, n);
  cudaFree(device);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
