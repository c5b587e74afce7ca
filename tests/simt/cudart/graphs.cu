// Graphs of work, captured from streams and put together by hand.
#include <cstring>

#include "expect.hpp"

__global__ void add(int* numbers, int value) { numbers[threadIdx.x] += value; }

static void count_call(void* calls) { ++*static_cast<int*>(calls); }

static void captured(int* numbers) {
  int got[32] = {};
  int calls = 0;
  cudaStream_t one, other;
  cudaEvent_t fork, join;
  cudaStreamCreate(&one);
  cudaStreamCreate(&other);
  cudaEventCreate(&fork);
  cudaEventCreate(&join);
  expect_error(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), cudaSuccess, __LINE__);
  cudaMemsetAsync(numbers, 0, sizeof got, one);
  cudaEventRecord(fork, one);
  cudaStreamWaitEvent(other, fork, 0);
  add<<<1, 16, 0, other>>>(numbers, 5);
  add<<<1, 16, 0, one>>>(numbers + 16, 7);
  cudaEventRecord(join, other);
  cudaStreamWaitEvent(one, join, 0);
  cudaLaunchHostFunc(one, count_call, &calls);
  cudaMemcpyAsync(got, numbers, sizeof got, cudaMemcpyDeviceToHost, one);
  cudaGraph_t graph;
  expect_error(cudaStreamEndCapture(one, &graph), cudaSuccess, __LINE__);
  expect(calls == 0, "what is captured is not done yet", __LINE__);
  std::size_t nodes = 0, edges = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
  expect(nodes == 5 && edges == 5, "two ways between a memset and a host function", __LINE__);
  cudaGraphNode_t all[5];
  cudaGraphGetNodes(graph, all, &nodes);
  int named = 0;
  for (const cudaGraphNode_t node : all) {
    cudaKernelNodeParams its{};
    named += cudaGraphKernelNodeGetParams(node, &its) == cudaSuccess &&
             its.func == reinterpret_cast<void*>(add);
  }
  expect(named == 2, "kernels that were captured have their names", __LINE__);
  cudaGraphExec_t ready;
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  expect_error(cudaGraphLaunch(ready, one), cudaSuccess, __LINE__);
  expect_error(cudaGraphLaunch(ready, other), cudaSuccess, __LINE__);
  expect_error(cudaStreamSynchronize(one), cudaSuccess, __LINE__);
  expect(got[0] == 5 && got[31] == 7 && calls == 2, "all of it is done at each launch", __LINE__);

  cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
  expect_error(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported, __LINE__);
  expect_error(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated, __LINE__);
}

static void by_hand(int* numbers) {
  int got[32] = {};
  int value = 100;
  cudaGraph_t graph;
  cudaGraphNode_t set, kernel, copy;
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&numbers, &value};
  cudaKernelNodeParams launch{};
  launch.func = reinterpret_cast<void*>(add);
  launch.gridDim = 1;
  launch.blockDim = 32;
  launch.kernelParams = arguments;
  expect_error(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch), cudaSuccess, __LINE__);
  cudaMemsetParams words{};
  words.dst = numbers;
  words.value = 0x10003;
  words.elementSize = 4;
  words.width = 32;
  words.height = 1;
  expect_error(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &words), cudaSuccess, __LINE__);
  cudaGraphEdgeData edge{};
  expect_error(cudaGraphAddDependencies(graph, &set, &kernel, &edge, 1), cudaSuccess, __LINE__);
  for (const cudaGraphNode_t of : {set, kernel}) {
    expect_error(cudaGraphAddDependencies(graph, &of, &kernel, &edge, 1), cudaErrorInvalidValue,
                 __LINE__);
  }
  expect_error(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, got, numbers, sizeof got,
                                        cudaMemcpyDeviceToHost),
               cudaSuccess, __LINE__);
  cudaGraphExec_t ready;
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  value = 1;  // the node has its own
  cudaGraphLaunch(ready, nullptr);
  expect(got[31] == 0x10003 + 100, "a node is done behind those it depends on", __LINE__);
  cudaKernelNodeParams its{};
  cudaGraphKernelNodeGetParams(kernel, &its);
  expect(*static_cast<int*>(its.kernelParams[1]) == 100, "a node tells its arguments", __LINE__);
  value = 1000;
  expect_error(cudaGraphExecKernelNodeSetParams(ready, kernel, &launch), cudaSuccess, __LINE__);
  cudaGraphLaunch(ready, nullptr);
  expect(got[31] == 0x10003 + 1000, "a node's arguments are changed", __LINE__);
  cudaGraph_t another;
  cudaGraphExecUpdateResultInfo result;
  cudaGraphClone(&another, graph);
  expect_error(cudaGraphExecUpdate(ready, another, &result), cudaSuccess, __LINE__);
  cudaGraphLaunch(ready, nullptr);
  expect(got[31] == 0x10003 + 100, "all nodes are changed", __LINE__);
  expect_error(cudaGraphExecKernelNodeSetParams(ready, kernel, &launch), cudaSuccess, __LINE__);
  cudaGraphLaunch(ready, nullptr);
  expect(got[31] == 0x10003 + 1000, "and known by those of the first graph", __LINE__);
  std::size_t edges = 0;
  cudaGraphNode_t from[2], to[2];
  cudaGraphGetEdges(another, nullptr, nullptr, nullptr, &edges);
  cudaGraphGetEdges(another, from, to, nullptr, &edges);
  cudaGraphRemoveDependencies(another, from, to, &edge, 1);
  expect_error(cudaGraphExecUpdate(ready, another, &result), cudaErrorGraphExecUpdateFailure,
               __LINE__);
  cudaGraphDestroy(another);
  expect_error(cudaGraphAddDependencies(graph, &copy, &set, &edge, 1), cudaSuccess, __LINE__);
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaErrorInvalidValue, __LINE__);
}

__device__ int variable;

// What nodes are, whatever their type, is asked and changed in one way.
static void nodes_changed(int* numbers) {
  int value = 1, got = 0, calls = 0;
  cudaMemset(numbers, 0, 32 * sizeof(int));
  cudaGraph_t graph;
  cudaGraphNode_t kernel, other, copy, record;
  cudaEvent_t one, event;
  cudaEventCreate(&one);
  cudaEventCreate(&event);
  cudaGraphCreate(&graph, 0);
  void* arguments[] = {&numbers, &value};
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeKernel;
  parameters.kernel.func = reinterpret_cast<void*>(add);
  parameters.kernel.gridDim = 1;
  parameters.kernel.blockDim = 32;
  parameters.kernel.kernelParams = arguments;
  cudaGraphAddNode(&kernel, graph, nullptr, nullptr, 0, &parameters);
  cudaGraphAddNode(&other, graph, &kernel, nullptr, 1, &parameters);
  cudaGraphAddMemcpyNodeToSymbol(&copy, graph, &other, 1, variable, numbers, sizeof(int), 0,
                                 cudaMemcpyDeviceToDevice);
  cudaGraphAddEventRecordNode(&record, graph, &copy, 1, one);
  value = 10;
  expect_error(cudaGraphNodeSetParams(kernel, &parameters), cudaSuccess, __LINE__);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  value = 100;
  expect_error(cudaGraphExecNodeSetParams(ready, other, &parameters), cudaSuccess, __LINE__);
  expect_error(cudaGraphExecNodeSetParams(ready, copy, &parameters), cudaErrorInvalidValue,
               __LINE__);
  cudaGraphLaunch(ready, nullptr);
  cudaMemcpyFromSymbol(&got, variable, sizeof got);
  expect(got == 110, "both kernels have other arguments", __LINE__);
  expect_error(cudaGraphExecMemcpyNodeSetParamsToSymbol(ready, copy, variable, numbers + 1,
                                                        sizeof(int), 0, cudaMemcpyDeviceToDevice),
               cudaSuccess, __LINE__);

  // A kernel keeps its attributes when its arguments change.
  cudaLaunchAttributeValue cluster{}, its{};
  cluster.clusterDim = {1, 1, 1};
  expect_error(
      cudaGraphKernelNodeSetAttribute(kernel, cudaLaunchAttributeClusterDimension, &cluster),
      cudaSuccess, __LINE__);
  cudaGraphNodeSetParams(kernel, &parameters);
  expect_error(cudaGraphKernelNodeCopyAttributes(other, kernel), cudaSuccess, __LINE__);
  cudaGraphKernelNodeGetAttribute(other, cudaLaunchAttributeClusterDimension, &its);
  expect(its.clusterDim.x == 1, "attributes are copied", __LINE__);

  cudaEvent_t its_event = nullptr;
  cudaGraphEventRecordNodeSetEvent(record, event);
  cudaGraphEventRecordNodeGetEvent(record, &its_event);
  expect(its_event == event, "a node records another event", __LINE__);

  char name[] = "graph.dot";
  expect_error(cudaGraphDebugDotPrint(graph, name, 0), cudaSuccess, __LINE__);
  char text[4096] = {};
  std::FILE* const drawn = std::fopen(name, "r");
  expect(drawn != nullptr && std::fread(text, 1, sizeof text - 1, drawn) > 0, "drawn", __LINE__);
  if (drawn != nullptr) std::fclose(drawn);
  expect(std::strstr(text, "_node_0\" -> \"graph_") != nullptr &&
             std::strstr(text, is_simulated() ? "add(int*, int)" : "add") != nullptr,
         "with edges and kernels", __LINE__);

  // What the graph keeps goes with the last that was made of it.
  cudaUserObject_t object;
  cudaUserObjectCreate(&object, &calls, count_call, 1, cudaUserObjectNoDestructorSync);
  cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  cudaGraphExec_t keeps;
  cudaGraphInstantiate(&keeps, graph, 0);
  cudaGraphDestroy(graph);
  expect(calls == 0, "kept", __LINE__);
  cudaGraphExecDestroy(keeps);
  expect(calls == 1, "and given back", __LINE__);
}

static unsigned long long memory(cudaGraphMemAttributeType attribute) {
  unsigned long long bytes = ~0ull;
  expect_error(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes), cudaSuccess, __LINE__);
  return bytes;
}

// An H200 takes 32 MiB and more at once, and calls them used until they are trimmed.
static void expect_taken(cudaGraphMemAttributeType attribute, unsigned long long bytes, int line) {
  const unsigned long long is = memory(attribute);
  expect(is_simulated() ? is == bytes : is >= bytes, "memory that graphs take", line);
}

// Memory that nodes allocate is of one graph and one executable at a time, and is freed before it is allocated again.
static void memory_of_graphs() {
  cudaGraph_t graph, copy;
  cudaGraphNode_t allocate, give_back;
  cudaGraphExec_t ready, another;
  cudaGraphCreate(&graph, 0);
  cudaMemAllocNodeParams parameters{};
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  parameters.bytesize = 1 << 16;
  for (const cudaMemPoolProps& wrong :
       {cudaMemPoolProps{.allocType = cudaMemAllocationTypePinned,
       .location = {cudaMemLocationTypeDevice, 99}},
        cudaMemPoolProps{.allocType = cudaMemAllocationTypePinned,
        .location = {cudaMemLocationTypeInvalid, 0}},
        cudaMemPoolProps{.location = {cudaMemLocationTypeDevice, 0}}}) {
    cudaMemAllocNodeParams of_wrong = parameters;
    of_wrong.poolProps = wrong;
    expect_error(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &of_wrong),
                 cudaErrorInvalidValue, __LINE__);
    cudaGraphNodeParams any{};
    any.type = cudaGraphNodeTypeMemAlloc;
    any.alloc.poolProps = wrong;
    any.alloc.bytesize = parameters.bytesize;
    expect_error(cudaGraphAddNode(&allocate, graph, nullptr, nullptr, 0, &any),
                 cudaErrorInvalidValue, __LINE__);
  }
  expect_error(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &parameters), cudaSuccess,
               __LINE__);
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  expect(memory(cudaGraphMemAttrUsedMemCurrent) == 0, "nothing before the launch", __LINE__);
  expect_error(cudaGraphLaunch(ready, nullptr), cudaSuccess, __LINE__);
  expect_taken(cudaGraphMemAttrUsedMemCurrent, 1 << 16, __LINE__);
  expect_error(cudaGraphLaunch(ready, nullptr), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaFree(parameters.dptr), cudaSuccess, __LINE__);
  expect_taken(cudaGraphMemAttrUsedMemCurrent, 0, __LINE__);
  expect_error(cudaGraphLaunch(ready, nullptr), cudaSuccess, __LINE__);
  expect_error(cudaFreeAsync(parameters.dptr, nullptr), cudaSuccess, __LINE__);
  expect_error(cudaGraphInstantiate(&another, graph, 0), cudaErrorNotSupported, __LINE__);
  expect_error(cudaGraphExecDestroy(ready), cudaSuccess, __LINE__);
  expect_error(cudaGraphInstantiate(&ready, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch),
               cudaSuccess, __LINE__);
  for (int i = 0; i < 2; ++i) {
    expect_error(cudaGraphLaunch(ready, nullptr), cudaSuccess, __LINE__);
  }
  expect_error(cudaGraphClone(&copy, graph), cudaErrorNotSupported, __LINE__);
  expect_error(cudaGraphDestroyNode(allocate), cudaErrorNotSupported, __LINE__);
  expect_error(cudaFree(parameters.dptr), cudaSuccess, __LINE__);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);

  cudaGraphCreate(&graph, 0);
  cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &parameters);
  expect_error(cudaGraphAddMemFreeNode(&give_back, graph, &allocate, 1, parameters.dptr),
               cudaSuccess, __LINE__);
  expect_error(cudaGraphAddMemFreeNode(&give_back, graph, &allocate, 1, parameters.dptr),
               cudaErrorInvalidValue, __LINE__);
  expect_error(cudaGraphRemoveDependencies(graph, &allocate, &give_back, nullptr, 1),
               cudaErrorNotSupported, __LINE__);
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  for (int i = 0; i < 2; ++i) {
    expect_error(cudaGraphLaunch(ready, nullptr), cudaSuccess, __LINE__);
  }
  expect_taken(cudaGraphMemAttrUsedMemCurrent, 0, __LINE__);
  expect_taken(cudaGraphMemAttrUsedMemHigh, 1 << 16, __LINE__);
  unsigned long long none = 0;
  expect_error(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none), cudaSuccess,
               __LINE__);
  expect_taken(cudaGraphMemAttrUsedMemHigh, 0, __LINE__);
  expect_taken(cudaGraphMemAttrReservedMemCurrent, 2 << 16, __LINE__);  // both graphs keep it
  expect_error(cudaDeviceGraphMemTrim(0), cudaSuccess, __LINE__);
}

int main() {
  int* numbers;
  cudaMalloc(&numbers, 32 * sizeof(int));
  captured(numbers);
  by_hand(numbers);
  nodes_changed(numbers);
  memory_of_graphs();
  cudaFree(numbers);
  return verdict();
}
