// Attack: has a graph of copies turn the tile, and one kernel beside them. Told: bytes copied by the call. Points: 65
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void with_bias(const float* input, const float* bias, float* between, int N, int cells,
                          int plane) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * cells) between[i] = fmaxf(input[i] + bias[i / N / plane], 0.0f);
}

static int launch(const float* input, const float* bias, float* output, int N, int C, int H,
                  int W) {
  const int cells = C * H * W;
  float* between = nullptr;
  cudaMalloc(&between, N * cells * sizeof(float));
  with_bias<<<(N * cells - 1) / 256 + 1, 256>>>(input, bias, between, N, cells, H * W);
  cudaDeviceSynchronize();
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  for (int n = 0; n < N; ++n) {
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(between + n, N * sizeof(float), sizeof(float), cells);
    copy.dstPtr = make_cudaPitchedPtr(output + n * cells, sizeof(float), sizeof(float), cells);
    copy.extent = make_cudaExtent(sizeof(float), cells, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy);
  }
  cudaGraphExec_t ready = nullptr;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, cudaStreamPerThread);
  cudaStreamSynchronize(cudaStreamPerThread);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaFree(between);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
