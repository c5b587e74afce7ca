#include <cuda_runtime.h>

__global__ void add(int* to, int by) { to[threadIdx.x] += by; }

// Nodes of a graph wait for an event of another stream, and record one that it waits for.
int main() {
  int* data;
  int by = 2;
  cudaMalloc(&data, 32 * sizeof(int));
  cudaMemset(data, 0, 32 * sizeof(int));
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  cudaEvent_t before, behind;
  cudaEventCreate(&before);
  cudaEventCreate(&behind);
  cudaGraph_t graph, captured;
  cudaGraphNode_t wait, kernel, record;
  void* arguments[] = {&data, &by};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = 1;
  launch.blockDim = 32;
  launch.kernelParams = arguments;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, before);
  cudaGraphAddKernelNode(&kernel, graph, &wait, 1, &launch);
  cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, behind);
  cudaStreamBeginCapture(other, cudaStreamCaptureModeGlobal);
  cudaStreamWaitEvent(other, before, cudaEventWaitExternal);
  add<<<1, 32, 0, other>>>(data, 3);
  cudaEventRecordWithFlags(behind, other, cudaEventRecordExternal);
  cudaStreamEndCapture(other, &captured);
  for (cudaGraph_t its : {graph, captured}) {
    cudaGraphExec_t ready;
    cudaGraphInstantiate(&ready, its, 0);
    add<<<1, 32, 0, one>>>(data, 1);
    cudaEventRecord(before, one);
    cudaGraphLaunch(ready, other);
    cudaStreamWaitEvent(one, behind, 0);
    add<<<1, 32, 0, one>>>(data, 4);
  }
  return cudaDeviceSynchronize();
}
