// Never launched: copies are looked at when they are captured, memsets when the graph is instantiated.
int main() {
  int *data, host[64] = {};
  cudaMalloc(&data, 16 * sizeof(int));
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(data, 0, 32 * sizeof(int), stream);
  const cudaError_t copied =
      cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, stream);
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  const cudaError_t instantiated = cudaGraphInstantiate(&ready, graph, 0);
  return copied == cudaErrorInvalidValue && ended == cudaSuccess &&
                 instantiated == cudaErrorInvalidValue
             ? 0
             : 1;
}
