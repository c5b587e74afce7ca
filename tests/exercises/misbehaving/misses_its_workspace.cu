// output[i] = input[i] by a graph, beside a workspace that it misses.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__constant__ float factor;
__device__ float kept;

__global__ void copy(const float* input, float* output, float* workspace, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) output[i] = factor * input[i];
  if (i == 0) workspace[n] = kept;
}

static int launch(const float* input, float* output, int n) {
  const float one = 1.0f;
  cudaMemcpyToSymbol(factor, &one, sizeof one);
  void* place = nullptr;
  cudaGetSymbolAddress(&place, kept);
  cudaMemset(place, 0, sizeof(float));
  float* workspace = nullptr;
  cudaMalloc(&workspace, n * sizeof(float));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  copy<<<(n + 63) / 64, 64, 0, stream>>>(input, output, workspace, n);
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  cudaFree(workspace);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
