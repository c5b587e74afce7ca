// A graph that is put together by hand: one kernel node.
#include <tuple>

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  std::tuple<Parameters...> own(arguments...);
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t ready;
  cudaGraphCreate(&graph, 0);
  std::apply(
      [&](auto&... each) {
        void* addresses[] = {&each...};
        cudaKernelNodeParams of = {};
        of.func = reinterpret_cast<void*>(kernel);
        of.gridDim = blocks;
        of.blockDim = threads;
        of.sharedMemBytes = static_cast<unsigned>(bytes);
        of.kernelParams = addresses;
        cudaGraphAddKernelNode(&node, graph, nullptr, 0, &of);
      },
      own);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, nullptr);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
