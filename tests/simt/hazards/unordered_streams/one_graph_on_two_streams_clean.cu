// What was made ready once runs once at a time, on whatever streams it is launched.
#include <cuda_runtime.h>

__global__ void add(int* sum) { ++*sum; }

int main() {
  int* sum;
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaDeviceSynchronize();
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  add<<<1, 1, 0, one>>>(sum);
  cudaStreamEndCapture(one, &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  for (int i = 0; i < 2; ++i) {
    cudaGraphLaunch(ready, one);
    cudaGraphLaunch(ready, other);
  }
  int found = 0;
  cudaDeviceSynchronize();
  cudaMemcpy(&found, sum, sizeof(int), cudaMemcpyDeviceToHost);
  return found != 4;
}
