// A graph whose node is given other parameters after it has been made ready, and which runs behind an empty node.
#include <tuple>

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  std::tuple<Parameters...> own(arguments...);
  cudaGraph_t graph;
  cudaGraphNode_t first, node;
  cudaGraphExec_t ready;
  cudaGraphCreate(&graph, 0);
  cudaGraphAddEmptyNode(&first, graph, nullptr, 0);
  std::apply(
      [&](auto&... each) {
        void* addresses[] = {&each...};
        cudaKernelNodeParams of = {};
        of.func = reinterpret_cast<void*>(kernel);
        of.gridDim = dim3(1);
        of.blockDim = threads;
        of.sharedMemBytes = static_cast<unsigned>(bytes);
        of.kernelParams = addresses;
        cudaGraphAddKernelNode(&node, graph, &first, 1, &of);
        cudaGraphInstantiate(&ready, graph, 0);
        of.gridDim = blocks;
        cudaGraphExecKernelNodeSetParams(ready, node, &of);
      },
      own);
  cudaGraphLaunch(ready, nullptr);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}
