// The node that would raise the flag depends on the one that waits for it.
__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

__global__ void raise(int* flag) { *flag = 1; }

int main() {
  int* flag;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  wait_for<<<1, 1, 0, stream>>>(flag);
  raise<<<1, 1, 0, stream>>>(flag);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  if (cudaGraphLaunch(ready, stream) != cudaSuccess) return 1;
  return cudaStreamSynchronize(stream) == cudaErrorLaunchTimeout ? 0 : 1;
}
