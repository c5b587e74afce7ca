// A stream is captured into a graph, which is replayed and thrown away.
template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  kernel<<<blocks, threads, bytes, stream>>>(arguments...);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, nullptr);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
