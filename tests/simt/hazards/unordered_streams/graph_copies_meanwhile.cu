#include <cuda_runtime.h>

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

// A copy that a graph makes from the host's memory does not let the host wait.
int main() {
  int host[32] = {};
  int *data, *other;
  cudaMallocManaged(&data, 32 * sizeof(int));
  cudaMalloc(&other, sizeof host);
  cudaGraph_t graph;
  cudaGraphNode_t copy;
  cudaGraphExec_t ready;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, other, host, sizeof host,
                           cudaMemcpyHostToDevice);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  fill<<<1, 32, 0, stream>>>(data);
  cudaGraphLaunch(ready, stream);
  const int first = data[0];
  return cudaStreamSynchronize(stream) + (first - first);
}
