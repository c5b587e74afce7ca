// Attack: keeps the graph of its first call and launches it again. Told: illegal memory access
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void naive(const float* input, const float* mask, float* output, int n, int width) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int j = 0; j < width; ++j)
    sum += input[min(max(i - (width - 1) / 2 + j, 0), n - 1)] * mask[j];
  output[i] = sum;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  static cudaGraphExec_t kept = nullptr;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (kept == nullptr) {
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    naive<<<(n - 1) / threads + 1, threads, 0, stream>>>(input, mask, output, n, width);
    cudaGraph_t graph;
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&kept, graph, 0);
  }
  cudaGraphLaunch(kept, stream);
  cudaStreamSynchronize(stream);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
