// The driver's functions, with the device code of loaded.cu, whose file is the argument. With a second one, a mistake: "stray"
// copies beyond an array, "gap" writes to an address that is reserved and has no memory, "late" asks for a kernel while
// another waits for the host, "unwritten" waits for a word that nobody writes.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

#define EXPECT(holds) expect(holds, #holds, __LINE__)

void expect_result(CUresult got, CUresult wanted, int line) {
  if (got == wanted) return;
  const char *its = "?", *other = "?";
  cuGetErrorName(got, &its);
  cuGetErrorName(wanted, &other);
  std::printf("line %d: %s instead of %s\n", line, its, other);
  ++failures;
}
#define RIGHT(call) expect_result(call, CUDA_SUCCESS, __LINE__)
#define RESULT(call, wanted) expect_result(call, wanted, __LINE__)

CUcontext make_context() {
  CUcontext context = nullptr;
  RIGHT(cuCtxCreate(&context, nullptr, 0, 0));
  return context;
}

void contexts() {
  CUcontext current = nullptr, popped = nullptr;
  int value = 0;
  char name[64];
  CUdeviceptr data = 0;
  RESULT(cuMemAlloc(&data, 4), CUDA_ERROR_NOT_INITIALIZED);
  RIGHT(cuInit(0));
  RESULT(cuMemAlloc(&data, 4), CUDA_ERROR_INVALID_CONTEXT);
  RIGHT(cuDeviceGetName(name, sizeof name, 0));
  EXPECT(std::strstr(name, "NVIDIA") != nullptr);
  for (const auto supported :
       {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
        CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED}) {
    RIGHT(cuDeviceGetAttribute(&value, supported, 0));
    EXPECT(value == 1);
  }
  RIGHT(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
  EXPECT(value == 9);
  RESULT(cuDeviceGetName(name, sizeof name, 1), CUDA_ERROR_INVALID_DEVICE);
  const CUcontext first = make_context(), second = make_context();
  unsigned flags = 0;
  RIGHT(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
  RIGHT(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_YIELD);
  RESULT(cuCtxSetFlags(~0u), CUDA_ERROR_INVALID_VALUE);
  RIGHT(cuCtxPopCurrent(&popped));
  EXPECT(popped == second);
  RIGHT(cuCtxGetCurrent(&current));
  EXPECT(current == first);
  // A context's memory goes with it.
  RIGHT(cuCtxPushCurrent(second));
  RIGHT(cuMemAlloc(&data, 4));
  RIGHT(cuCtxDestroy(second));
  std::size_t bytes = 0;
  RESULT(cuMemGetAddressRange(nullptr, &bytes, data), CUDA_ERROR_NOT_FOUND);
  RIGHT(cuCtxDestroy(first));
  RESULT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  // The runtime makes the primary context current, whenever there is none.
  for (int round = 0; round < 2; ++round) {
    cudaFree(nullptr);
    RIGHT(cuMemAlloc(&data, 4));
    RIGHT(round == 0 ? cuCtxSetCurrent(nullptr) : cuCtxPopCurrent(&popped));
    RESULT(cuMemAlloc(&data, 4), CUDA_ERROR_INVALID_CONTEXT);
  }
  RESULT(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  RIGHT(cuDevicePrimaryCtxRetain(&current, 0));
  EXPECT(popped == current);
  RIGHT(cuCtxSetCurrent(current));
}

std::vector<float> values_of(CUdeviceptr data, std::size_t count) {
  std::vector<float> values(count);
  RIGHT(cuMemcpyDtoH(values.data(), data, count * sizeof(float)));
  return values;
}

CUfunction modules(const char* file) {
  CUmodule module = nullptr;
  CUfunction scale = nullptr, none = nullptr;
  RESULT(cuModuleLoad(&module, "no such file"), CUDA_ERROR_FILE_NOT_FOUND);
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* settings[] = {log, reinterpret_cast<void*>(sizeof log)};
  RESULT(cuModuleLoadDataEx(&module, ".version 9.0\n.target sm_90\nnonsense", 2, options, settings),
         CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, "nonsense") != nullptr);
  constexpr char kUnknown[] =
      ".version 9.0\n.target sm_90\n.entry k() {\n  .reg .b32 %r1;\n  ad.u32 %r1, %r1, 1;\n  "
      "ret;\n}\n";
  settings[1] = reinterpret_cast<void*>(sizeof log);
  RESULT(cuModuleLoadDataEx(&module, kUnknown, 2, options, settings), CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, is_simulated() ? "PTX:5: ad is the name of no instruction" : "ad") !=
         nullptr);
  RIGHT(cuModuleLoad(&module, file));
  RIGHT(cuModuleGetFunction(&scale, module, "scale"));
  RESULT(cuModuleGetFunction(&none, module, "none"), CUDA_ERROR_NOT_FOUND);
  CUdeviceptr factor = 0;
  std::size_t bytes = 0;
  RIGHT(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == sizeof(float));
  const float three = 3;
  RIGHT(cuMemcpyHtoD(factor, &three, sizeof three));
  int value = -1;
  RIGHT(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  EXPECT(value == 1024);
  int grid = 0, block = 0;
  RIGHT(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0));
  EXPECT(grid > 0 && block % 32 == 0);
  return scale;
}

void launches(CUfunction scale) {
  CUdeviceptr data = 0;
  RIGHT(cuMemAlloc(&data, 4 * sizeof(float)));
  void* arguments[] = {&data};
  RIGHT(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT((values_of(data, 4) == std::vector<float>{0, 3, 6, 9}));
  RIGHT(cuMemsetD32(data, 0x40000000, 4));
  EXPECT((values_of(data, 4) == std::vector<float>{2, 2, 2, 2}));
  // As one piece.
  std::size_t bytes = sizeof data;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &data, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUstream stream = nullptr;
  RIGHT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 4;
  config.hStream = stream;
  RIGHT(cuLaunchKernelEx(&config, scale, nullptr, extra));
  RIGHT(cuStreamSynchronize(stream));
  EXPECT((values_of(data, 4) == std::vector<float>{0, 3, 6, 9}));
  bytes = 4;
  if (is_simulated()) {
    RESULT(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, extra),
           CUDA_ERROR_INVALID_VALUE);
  }
  RESULT(cuLaunchKernel(scale, 0, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr),
         CUDA_ERROR_INVALID_VALUE);
  RESULT(cuLaunchKernel(nullptr, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr),
         CUDA_ERROR_INVALID_HANDLE);
  CUlaunchAttribute pairs = {};
  pairs.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  pairs.value.clusterDim = {2, 1, 1};
  config.attrs = &pairs;
  config.numAttrs = 1;
  config.gridDimX = 2;
  int clusters = 0;
  RIGHT(cuOccupancyMaxActiveClusters(&clusters, scale, &config));
  RESULT(cuOccupancyMaxActiveClusters(&clusters, scale, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT(clusters > 0);
  CUmemoryPool pool = nullptr;
  RIGHT(cuDeviceGetDefaultMemPool(&pool, 0));
  CUmemLocation here = {};
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  RIGHT(cuMemPoolGetAccess(&flags, pool, &here));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CUmemAccessDesc access = {};
  access.location = here;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  RIGHT(cuMemPoolSetAccess(pool, &access, 1));
  int value = 0;
  // A device is no peer of itself.
  RESULT(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
         CUDA_ERROR_INVALID_DEVICE);
  RIGHT(cuStreamDestroy(stream));
  RIGHT(cuMemFree(data));
}

template <class Parameters = CUDA_KERNEL_NODE_PARAMS>
Parameters one_block(CUfunction function, unsigned threads, void** arguments) {
  Parameters its = {};
  its.func = function;
  its.gridDimX = its.gridDimY = its.gridDimZ = its.blockDimY = its.blockDimZ = 1;
  its.blockDimX = threads;
  its.kernelParams = arguments;
  return its;
}

// Made by hand: what is set, then a kernel, then copied and told to the host.
void graphs(CUfunction scale) {
  CUdeviceptr data = 0;
  RIGHT(cuMemAlloc(&data, 4 * sizeof(float)));
  CUcontext context = nullptr;
  RIGHT(cuCtxGetCurrent(&context));
  CUgraph graph = nullptr;
  RIGHT(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS twos = {};
  twos.dst = data;
  twos.value = 0x40000000;
  twos.height = 1;
  twos.elementSize = sizeof(float);
  twos.width = 4;
  void* arguments[] = {&data};
  CUDA_KERNEL_NODE_PARAMS kernel = one_block(scale, 3, arguments);
  std::vector<float> seen(4);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = seen.data();
  copy.WidthInBytes = 4 * sizeof(float);
  copy.Height = copy.Depth = 1;
  int told = 0;
  CUDA_HOST_NODE_PARAMS tell = {};
  tell.fn = [](void* count) { ++*static_cast<int*>(count); };
  tell.userData = &told;
  CUgraphNode set = nullptr, run = nullptr, back = nullptr, last = nullptr;
  RIGHT(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &twos, context));
  RIGHT(cuGraphAddKernelNode(&run, graph, &set, 1, &kernel));
  copy.srcMemoryType = static_cast<CUmemorytype>(0);
  RESULT(cuGraphAddMemcpyNode(&back, graph, nullptr, 0, &copy, context), CUDA_ERROR_INVALID_VALUE);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  RIGHT(cuGraphAddMemcpyNode(&back, graph, nullptr, 0, &copy, context));
  RIGHT(cuGraphAddDependencies(graph, &run, &back, nullptr, 1));
  RIGHT(cuGraphAddHostNode(&last, graph, &back, 1, &tell));
  std::size_t count = 0;
  RIGHT(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 4);
  RIGHT(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 3);
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  RIGHT(cuGraphNodeGetType(run, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_KERNEL);
  CUgraphExec executable = nullptr;
  RIGHT(cuGraphInstantiate(&executable, graph, 0));
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuCtxSynchronize());
  EXPECT((seen == std::vector<float>{0, 3, 6, 2}) && told == 1);
  kernel.blockDimX = 4;
  RIGHT(cuGraphExecKernelNodeSetParams(executable, run, &kernel));
  RIGHT(cuGraphNodeSetEnabled(executable, set, 0));
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuCtxSynchronize());
  EXPECT((seen == std::vector<float>{0, 3, 6, 9}) && told == 2);
  // What is to be updated must have the same shape.
  RIGHT(cuGraphDestroyNode(last));
  CUgraphExecUpdateResultInfo result = {};
  RESULT(cuGraphExecUpdate(executable, graph, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT(result.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  RESULT(cuGraphAddKernelNode(&run, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  RIGHT(cuGraphExecDestroy(executable));
  RIGHT(cuGraphDestroy(graph));
  RIGHT(cuMemFree(data));
}

// A graph within a graph, a copy of it, and what changes before and after it is made ready.
void changed_graphs(CUfunction scale) {
  CUdeviceptr data = 0;
  RIGHT(cuMemAlloc(&data, 8 * sizeof(float)));
  CUcontext context = nullptr;
  RIGHT(cuCtxGetCurrent(&context));
  CUDA_MEMSET_NODE_PARAMS set = {};
  set.dst = data;
  set.value = 0x40000000;
  set.height = 2;
  set.pitch = 4 * sizeof(float);
  set.elementSize = sizeof(float);
  set.width = 3;
  void* arguments[] = {&data};
  CUDA_KERNEL_NODE_PARAMS kernel = one_block(scale, 1, arguments);
  // Two numbers of each row, from the second on.
  std::vector<float> seen(4), other(4);
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = data;
  copy.srcPitch = 4 * sizeof(float);
  copy.srcXInBytes = sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = seen.data();
  copy.WidthInBytes = 2 * sizeof(float);
  copy.Height = 2;
  copy.Depth = 1;
  CUgraph inner = nullptr, graph = nullptr, clone = nullptr;
  CUgraphNode clear = nullptr, child = nullptr, run = nullptr, back = nullptr, mark = nullptr;
  RIGHT(cuMemsetD32(data, 0, 8));
  RIGHT(cuGraphCreate(&inner, 0));
  RIGHT(cuGraphAddEmptyNode(&clear, inner, nullptr, 0));
  RIGHT(cuGraphCreate(&graph, 0));
  RIGHT(cuGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  RIGHT(cuGraphAddMemsetNode(&clear, graph, &child, 1, &set, context));
  RIGHT(cuGraphAddKernelNode(&run, graph, &clear, 1, &kernel));
  RIGHT(cuGraphAddMemcpyNode(&back, graph, &run, 1, &copy, context));
  CUevent event = nullptr;
  RIGHT(cuEventCreate(&event, CU_EVENT_DEFAULT));
  RIGHT(cuGraphAddEventRecordNode(&mark, graph, &back, 1, event));
  CUgraph within = nullptr;
  RIGHT(cuGraphChildGraphNodeGetGraph(child, &within));
  EXPECT(within != nullptr && within != inner);

  std::size_t count = 0;
  RIGHT(cuGraphNodeGetDependencies(back, nullptr, nullptr, &count));
  EXPECT(count == 1);
  RIGHT(cuGraphRemoveDependencies(graph, &run, &back, nullptr, 1));
  RIGHT(cuGraphNodeGetDependencies(back, nullptr, nullptr, &count));
  EXPECT(count == 0);
  RIGHT(cuGraphNodeGetDependentNodes(run, nullptr, nullptr, &count));
  EXPECT(count == 0);
  RIGHT(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  RIGHT(cuGraphAddDependencies(graph, &run, &back, nullptr, 1));

  RIGHT(cuGraphClone(&clone, graph));
  CUgraphNode its_run = nullptr;
  RIGHT(cuGraphNodeFindInClone(&its_run, run, clone));
  EXPECT(its_run != nullptr && its_run != run);
  CUgraphExec executable = nullptr;
  RIGHT(cuGraphInstantiate(&executable, graph, 0));
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuEventSynchronize(event));
  EXPECT((seen == std::vector<float>{2, 2, 2, 2}));

  // The copy's kernel has two threads more: the executable takes that over.
  kernel.blockDimX = 3;
  RIGHT(cuGraphKernelNodeSetParams(its_run, &kernel));
  CUgraphExecUpdateResultInfo result = {};
  RIGHT(cuGraphExecUpdate(executable, clone, &result));
  EXPECT(result.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  set.value = 0x3f800000;
  copy.dstHost = other.data();
  RIGHT(cuGraphExecMemsetNodeSetParams(executable, clear, &set, context));
  // To other host memory: a GPU refuses that.
  if (is_simulated()) {
    RIGHT(cuGraphExecMemcpyNodeSetParams(executable, back, &copy, context));
    RIGHT(cuGraphLaunch(executable, nullptr));
    RIGHT(cuCtxSynchronize());
    EXPECT((other == std::vector<float>{3, 6, 1, 1}) && seen[0] == 2);
  }
  RIGHT(cuEventDestroy(event));
  RIGHT(cuGraphExecDestroy(executable));
  for (CUgraph one : {clone, graph, inner}) RIGHT(cuGraphDestroy(one));
  RIGHT(cuMemFree(data));
}

// What nodes of each type are made of, are asked for, and become; memory that a graph has of its own.
void node_parameters(CUfunction scale) {
  CUcontext context = nullptr;
  RIGHT(cuCtxGetCurrent(&context));
  CUgraph graph = nullptr;
  RIGHT(cuGraphCreate(&graph, 0));
  CUgraphNodeParams some = {};
  some.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  some.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  some.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  some.alloc.bytesize = 4 * sizeof(float);
  CUgraphNode take = nullptr, set = nullptr, run = nullptr, back = nullptr, tell = nullptr,
              give = nullptr, choose = nullptr;
  RIGHT(cuGraphAddNode(&take, graph, nullptr, nullptr, 0, &some));
  CUdeviceptr data = some.alloc.dptr;
  EXPECT(data != 0);
  CUDA_MEM_ALLOC_NODE_PARAMS taken = {};
  RIGHT(cuGraphMemAllocNodeGetParams(take, &taken));
  EXPECT(taken.dptr == data && taken.bytesize == 4 * sizeof(float));
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_MEMSET;
  some.memset.dst = data;
  some.memset.value = 0x40000000;
  some.memset.elementSize = sizeof(float);
  some.memset.width = 4;
  some.memset.height = 1;
  some.memset.ctx = context;
  RIGHT(cuGraphAddNode(&set, graph, &take, nullptr, 1, &some));
  void* arguments[] = {&data};
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_KERNEL;
  some.kernel = one_block<CUDA_KERNEL_NODE_PARAMS_v3>(scale, 3, arguments);
  RIGHT(cuGraphAddNode(&run, graph, &set, nullptr, 1, &some));
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  RIGHT(cuGraphKernelNodeGetParams(run, &kernel));
  EXPECT(kernel.func == scale && kernel.gridDimX == 1 && kernel.blockDimX == 3 &&
         *static_cast<CUdeviceptr*>(kernel.kernelParams[0]) == data);
  std::vector<float> seen(4), other(4);
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  some.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  some.memcpy.copyParams.srcDevice = data;
  some.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
  some.memcpy.copyParams.dstHost = seen.data();
  some.memcpy.copyParams.WidthInBytes = 4 * sizeof(float);
  some.memcpy.copyParams.Height = some.memcpy.copyParams.Depth = 1;
  some.memcpy.copyCtx = context;
  RIGHT(cuGraphAddNode(&back, graph, &run, nullptr, 1, &some));
  int told = 0, told_later = 0;
  const auto count_up = [](void* count) { ++*static_cast<int*>(count); };
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_HOST;
  some.host.fn = count_up;
  some.host.userData = &told;
  RIGHT(cuGraphAddNode(&tell, graph, &back, nullptr, 1, &some));
  RIGHT(cuGraphAddMemFreeNode(&give, graph, &back, 1, data));
  CUdeviceptr given = 0;
  RIGHT(cuGraphMemFreeNodeGetParams(give, &given));
  EXPECT(given == data);
  // Of a condition the graph that is run if it holds.
  CUgraphConditionalHandle handle = 0;
  RIGHT(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  some.conditional.handle = handle;
  some.conditional.type = CU_GRAPH_COND_TYPE_IF;
  some.conditional.size = 1;
  some.conditional.ctx = context;
  RIGHT(cuGraphAddNode(&choose, graph, &give, nullptr, 1, &some));
  EXPECT(some.conditional.phGraph_out != nullptr && some.conditional.phGraph_out[0] != nullptr);
  static int destroyed = 0;  // which may happen later
  CUuserObject object = nullptr;
  RIGHT(cuUserObjectCreate(&object, &destroyed, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  RIGHT(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));

  CUgraphExec executable = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS how = {};
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  RIGHT(cuGraphInstantiateWithParams(&executable, graph, &how));
  cuuint64_t flags = 0;
  RIGHT(cuGraphExecGetFlags(executable, &flags));
  EXPECT(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS && flags == how.flags);
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuCtxSynchronize());
  EXPECT((seen == std::vector<float>{0, 3, 6, 2}) && told == 1);
  CUDA_HOST_NODE_PARAMS telling = {count_up, &told_later};
  RIGHT(cuGraphExecHostNodeSetParams(executable, tell, &telling));
  some = {};
  some.type = CU_GRAPH_NODE_TYPE_KERNEL;
  some.kernel = one_block<CUDA_KERNEL_NODE_PARAMS_v3>(scale, 2, arguments);
  RIGHT(cuGraphExecNodeSetParams(executable, run, &some));
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuCtxSynchronize());
  EXPECT((seen == std::vector<float>{0, 3, 2, 2}) && told == 1 && told_later == 1);

  // The graph itself: what is made ready later has all of it.
  RIGHT(cuGraphHostNodeSetParams(tell, &telling));
  telling = {};
  RIGHT(cuGraphHostNodeGetParams(tell, &telling));
  EXPECT(telling.userData == &told_later);
  CUDA_MEMSET_NODE_PARAMS ones = {};
  RIGHT(cuGraphMemsetNodeGetParams(set, &ones));
  EXPECT(ones.dst == data && ones.value == 0x40000000 && ones.width == 4);
  ones.value = 0x3f800000;
  RIGHT(cuGraphMemsetNodeSetParams(set, &ones));
  CUDA_MEMCPY3D copy = {};
  RIGHT(cuGraphMemcpyNodeGetParams(back, &copy));
  EXPECT(copy.srcDevice == data && copy.WidthInBytes == 4 * sizeof(float) && copy.Depth == 1);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = other.data();
  RIGHT(cuGraphMemcpyNodeSetParams(back, &copy));
  RIGHT(cuGraphNodeSetParams(run, &some));
  CUgraphExec second = nullptr;
  RIGHT(cuGraphExecDestroy(executable));
  RIGHT(cuGraphInstantiate(&second, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
  RIGHT(cuGraphLaunch(second, nullptr));
  RIGHT(cuCtxSynchronize());
  EXPECT((other == std::vector<float>{0, 3, 1, 1}) && seen[2] == 2 && told_later == 2);
  RIGHT(cuGraphExecDestroy(second));
  RIGHT(cuGraphDestroy(graph));
  EXPECT(destroyed == 1 || !is_simulated());  // a GPU's driver does it when it likes
}

// Work that a stream takes up is asked for, and put behind other nodes.
void captures(CUfunction scale) {
  CUstream stream = nullptr;
  RIGHT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr data = 0;
  RIGHT(cuMemAlloc(&data, 4 * sizeof(float)));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  RIGHT(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  CUgraph graph = nullptr, its = nullptr, same = nullptr;
  CUgraphNode first = nullptr;
  RIGHT(cuGraphCreate(&graph, 0));
  RIGHT(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
  RIGHT(cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1,
                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  RIGHT(cuMemsetD32Async(data, 0x40000000, 4, stream));
  cuuint64_t number = 0;
  const CUgraphNode* before = nullptr;
  std::size_t count = 0;
  RIGHT(cuStreamGetCaptureInfo(stream, &status, &number, &its, &before, nullptr, &count));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && number != 0 && its == graph && count == 1);
  RIGHT(cuStreamUpdateCaptureDependencies(stream, &first, nullptr, 1,
                                          CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  void* arguments[] = {&data};
  RIGHT(cuLaunchKernel(scale, 1, 1, 1, 3, 1, 1, 0, stream, arguments, nullptr));
  RIGHT(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &before, nullptr, &count));
  EXPECT(count == 1);
  std::size_t edges = 0;
  RIGHT(cuGraphNodeGetDependencies(*before, nullptr, nullptr, &edges));
  EXPECT(edges == 2);
  RIGHT(cuStreamEndCapture(stream, &same));
  EXPECT(same == graph);
  CUgraphExec executable = nullptr;
  RIGHT(cuGraphInstantiate(&executable, graph, 0));
  RIGHT(cuGraphLaunch(executable, stream));
  // One copy after the other.
  std::vector<float> seen(6);
  CUdeviceptr to[] = {reinterpret_cast<CUdeviceptr>(seen.data()),
                      reinterpret_cast<CUdeviceptr>(seen.data() + 4)};
  CUdeviceptr from[] = {data, data + 2 * sizeof(float)};
  std::size_t sizes[] = {4 * sizeof(float), 2 * sizeof(float)}, of_first = 0;
  CUmemcpyAttributes attributes = {};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  RIGHT(cuMemcpyBatchAsync(to, from, sizes, 2, &attributes, &of_first, 1, stream));
  RIGHT(cuStreamSynchronize(stream));
  EXPECT((seen == std::vector<float>{0, 3, 6, 2, 6, 2}));
  RIGHT(cuGraphExecDestroy(executable));
  RIGHT(cuGraphDestroy(graph));
  RIGHT(cuStreamDestroy(stream));
  RIGHT(cuMemFree(data));
  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr, current = nullptr, of_device = nullptr;
  RIGHT(cuMemGetDefaultMemPool(&pool, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  RIGHT(cuMemGetMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  RIGHT(cuDeviceGetDefaultMemPool(&of_device, 0));
  EXPECT(pool == of_device && current == of_device);
  RIGHT(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
}

// Whose kernel is gone when it is launched.
void graph_of_unloaded() {
  CUmodule module = nullptr;
  CUfunction idle = nullptr;
  RIGHT(cuModuleLoadData(&module,
                         ".version 8.0\n.target sm_90\n.address_size 64\n"
                         ".visible .entry nothing() { ret; }\n"));
  RIGHT(cuModuleGetFunction(&idle, module, "nothing"));
  const CUDA_KERNEL_NODE_PARAMS kernel = one_block(idle, 1, nullptr);
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  RIGHT(cuGraphCreate(&graph, 0));
  RIGHT(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
  RIGHT(cuGraphInstantiate(&executable, graph, 0));
  RIGHT(cuGraphLaunch(executable, nullptr));
  RIGHT(cuCtxSynchronize());
  RIGHT(cuModuleUnload(module));
  if (is_simulated()) RESULT(cuGraphLaunch(executable, nullptr), CUDA_ERROR_INVALID_HANDLE);
  RIGHT(cuGraphExecDestroy(executable));
  RIGHT(cuGraphDestroy(graph));
}

// Words that one stream writes and another waits for, or the host; "unwritten": one that nobody writes.
void stream_words(CUfunction scale, bool is_unwritten) {
  int has = 0;
  RIGHT(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
  EXPECT(has == 1);
  CUstream first = nullptr, second = nullptr;
  RIGHT(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  RIGHT(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUdeviceptr words = 0, data = 0, seen_by_device = 0;
  RIGHT(cuMemAlloc(&words, 4 * sizeof(int)));
  RIGHT(cuMemsetD32(words, 0, 4));
  const CUdeviceptr other_word = words + sizeof(int);
  RIGHT(cuMemsetD32(other_word, ~0u, 1));
  RIGHT(cuMemAlloc(&data, 4 * sizeof(float)));
  RIGHT(cuMemsetD32(data, 0, 4));
  RIGHT(cuCtxSynchronize());
  if (is_unwritten) {
    RIGHT(cuStreamWaitValue32(second, words, 1, CU_STREAM_WAIT_VALUE_EQ));
    RESULT(cuStreamSynchronize(second), CUDA_ERROR_LAUNCH_TIMEOUT);
    return;
  }
  // The second stream's kernel comes behind what stands before the word on the first: nothing else orders them.
  void* arguments[] = {&data};
  RIGHT(cuStreamWaitValue32(second, words, 2, CU_STREAM_WAIT_VALUE_GEQ));
  RIGHT(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, second, arguments, nullptr));
  std::vector<float> seen(4, -1);
  RIGHT(cuMemsetD32Async(data, 0x40000000, 4, first));
  RIGHT(cuStreamWriteValue32(first, words, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  RESULT(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  RIGHT(cuStreamWriteValue32(first, words, 2, CU_STREAM_WRITE_VALUE_DEFAULT));
  RIGHT(cuStreamSynchronize(second));
  RIGHT(cuMemcpyDtoH(seen.data(), data, 4 * sizeof(float)));
  EXPECT((seen == std::vector<float>{0, 3, 6, 9}));
  // By the host, and each way of waiting.
  volatile cuuint64_t* flag = nullptr;
  RIGHT(cuMemHostAlloc(reinterpret_cast<void**>(const_cast<cuuint64_t**>(&flag)), 16, 0));
  RIGHT(cuMemHostGetDevicePointer(&seen_by_device, const_cast<cuuint64_t*>(flag), 0));
  *flag = 0;
  constexpr cuuint64_t kHigh = cuuint64_t{1} << 40;
  RIGHT(cuStreamWaitValue64(second, seen_by_device, kHigh, CU_STREAM_WAIT_VALUE_AND));
  RIGHT(cuStreamWriteValue64(second, seen_by_device, kHigh * 3, CU_STREAM_WRITE_VALUE_DEFAULT));
  RESULT(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  *flag = kHigh + 5;
  RIGHT(cuStreamSynchronize(second));
  EXPECT(*flag == kHigh * 3);
  CUstreamBatchMemOpParams several[3] = {};
  several[0].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, words, {7}, 0, 0};
  several[1].memoryBarrier = {CU_STREAM_MEM_OP_BARRIER, 0};
  several[2].waitValue = {
      CU_STREAM_MEM_OP_WAIT_VALUE_32, other_word, {0xf0}, CU_STREAM_WAIT_VALUE_NOR, 0};
  RIGHT(cuStreamBatchMemOp(first, 2, several, 0));
  RIGHT(cuStreamBatchMemOp(first, 3, several, 0));
  RESULT(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
  RIGHT(cuStreamWriteValue32(second, other_word, 6, 0));
  RIGHT(cuStreamSynchronize(first));
  RESULT(cuStreamWriteValue32(first, words + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  RESULT(cuStreamWriteValue32(first, 4096, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr short_word = 0;
  RIGHT(cuMemAlloc(&short_word, 4));
  if (is_simulated()) {
    RESULT(cuStreamWriteValue64(first, short_word, 1, 0), CUDA_ERROR_INVALID_VALUE);
    RESULT(cuStreamWaitValue64(first, short_word, 1, 0), CUDA_ERROR_INVALID_VALUE);
  }
  RIGHT(cuStreamWriteValue32(first, short_word, 1, 0));
  RIGHT(cuStreamSynchronize(first));
  RIGHT(cuMemFree(short_word));
  RESULT(cuStreamWaitValue32(first, words, 1, 8), CUDA_ERROR_INVALID_VALUE);
  RIGHT(cuMemFreeHost(const_cast<cuuint64_t*>(flag)));
  RIGHT(cuMemFree(words));
  RIGHT(cuMemFree(data));
  RIGHT(cuStreamDestroy(first));
  RIGHT(cuStreamDestroy(second));
}

// A kernel that waits for the host, which goes on after the launch. Late: another is asked for meanwhile.
void waits_for_host(bool is_late) {
  const char* const text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry wait_for(.param .u64 flag, .param .u64 out) {\n"
      "  .reg .b64 %f, %o; .reg .b32 %v; .reg .pred %p;\n"
      "  ld.param.u64 %f, [flag]; ld.param.u64 %o, [out];\n"
      "again:\n"
      "  ld.volatile.global.u32 %v, [%f]; setp.eq.u32 %p, %v, 0; @%p bra again;\n"
      "  st.global.u32 [%o], %v; ret;\n"
      "}\n"
      ".visible .entry idle() { ret; }\n";
  CUmodule module = nullptr;
  CUfunction wait_for = nullptr, idle = nullptr;
  RIGHT(cuModuleLoadData(&module, text));
  RIGHT(cuModuleGetFunction(&wait_for, module, "wait_for"));
  if (!is_late) RIGHT(cuModuleGetFunction(&idle, module, "idle"));
  unsigned* flag = nullptr;
  CUdeviceptr seen = 0, out = 0;
  RIGHT(cuMemHostAlloc(reinterpret_cast<void**>(&flag), sizeof *flag, CU_MEMHOSTALLOC_DEVICEMAP));
  RIGHT(cuMemHostGetDevicePointer(&seen, flag, 0));
  RIGHT(cuMemAlloc(&out, sizeof *flag));
  *flag = 0;
  CUstream stream = nullptr;
  RIGHT(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* arguments[] = {&seen, &out};
  RIGHT(cuLaunchKernel(wait_for, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  RESULT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  if (is_late) RIGHT(cuModuleGetFunction(&idle, module, "idle"));
  RIGHT(cuLaunchKernel(idle, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  *static_cast<volatile unsigned*>(flag) = 7;
  RIGHT(cuStreamSynchronize(stream));
  unsigned got = 0;
  RIGHT(cuMemcpyDtoH(&got, out, sizeof got));
  EXPECT(got == 7);
  RIGHT(cuStreamDestroy(stream));
  RIGHT(cuModuleUnload(module));
  RIGHT(cuMemFree(out));
  RIGHT(cuMemFreeHost(flag));
}

// Two texts, one of which calls a function of the other.
void links() {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  std::string callee =
      head + ".visible .func (.param .b32 r) seven() {\n" + "  st.param.b32 [r], 7;\n  ret;\n}\n";
  std::string caller = head + ".extern .func (.param .b32 r) seven();\n" +
                       ".visible .entry answer(.param .u64 out) {\n" +
                       "  .reg .b64 %a;\n  .reg .b32 %v;\n  ld.param.u64 %a, [out];\n" +
                       "  { .param .b32 r; call.uni (r), seven, (); ld.param.b32 %v, [r]; }\n" +
                       "  st.global.u32 [%a], %v;\n  ret;\n}\n";
  CUlinkState state = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  // What is said of it is a string, if only an empty one.
  char log[64];
  std::memset(log, 'x', sizeof log);
  CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  RIGHT(cuLinkCreate(2, options, values, &state));
  for (std::string* one : {&callee, &caller}) {
    RIGHT(cuLinkAddData(state, CU_JIT_INPUT_PTX, one->data(), one->size() + 1, "one", 0, nullptr,
                        nullptr));
  }
  RIGHT(cuLinkComplete(state, &image, &bytes));
  EXPECT(std::memchr(log, '\0', sizeof log) != nullptr);
  CUmodule module = nullptr;
  CUfunction answer = nullptr;
  RIGHT(cuModuleLoadData(&module, image));
  RIGHT(cuLinkDestroy(state));
  RIGHT(cuModuleGetFunction(&answer, module, "answer"));
  CUdeviceptr data = 0;
  RIGHT(cuMemAlloc(&data, sizeof(int)));
  void* arguments[] = {&data};
  RIGHT(cuLaunchKernel(answer, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int value = 0;
  RIGHT(cuMemcpyDtoH(&value, data, sizeof value));
  EXPECT(value == 7);
  RIGHT(cuMemFree(data));
  RIGHT(cuModuleUnload(module));
}

void copies() {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR description = {3, 2, CU_AD_FORMAT_FLOAT, 1};
  RIGHT(cuArrayCreate(&array, &description));
  CUDA_ARRAY_DESCRIPTOR told = {};
  RIGHT(cuArrayGetDescriptor(&told, array));
  EXPECT(told.Width == 3 && told.Height == 2 && told.Format == CU_AD_FORMAT_FLOAT &&
         told.NumChannels == 1);
  float from[2][4] = {{1, 2, 3, -1}, {4, 5, 6, -1}}, to[4] = {};
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.srcPitch = sizeof from[0];
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 3 * sizeof(float);
  copy.Height = 2;
  RIGHT(cuMemcpy2D(&copy));
  copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  copy.WidthInBytes = 2 * sizeof(float);
  copy.Height = 2;
  RIGHT(cuMemcpy2D(&copy));
  EXPECT(to[0] == 2 && to[1] == 3 && to[2] == 5 && to[3] == 6);
  RIGHT(cuArrayDestroy(array));
}

// Two pieces of memory that lie beside each other are one array; what goes away comes back elsewhere as it was.
void mappings(CUfunction scale, bool is_gap) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  std::size_t unit = 0;
  RIGHT(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr begin = 0;
  RIGHT(cuMemAddressReserve(&begin, 4 * unit, 0, 0, 0));
  CUmemGenericAllocationHandle handles[2];
  for (int i = 0; i < 2; ++i) {
    RIGHT(cuMemCreate(&handles[i], unit, &properties, 0));
    RIGHT(cuMemMap(begin + i * unit, unit, 0, handles[i], 0));
  }
  RIGHT(cuMemSetAccess(begin, 2 * unit, &access, 1));
  CUdeviceptr across = begin + unit - 2 * sizeof(float);
  void* arguments[] = {&across};
  if (is_gap) across = begin + 2 * unit;
  RIGHT(cuLaunchKernel(scale, 1, 1, 1, 4, 1, 1, 0, nullptr, arguments, nullptr));
  if (is_gap) return;
  EXPECT((values_of(across, 4) == std::vector<float>{0, 3, 6, 9}));
  RIGHT(cuMemUnmap(begin + unit, unit));
  EXPECT((values_of(across, 2) == std::vector<float>{0, 3}));
  RIGHT(cuMemMap(begin + 3 * unit, unit, 0, handles[1], 0));
  RIGHT(cuMemSetAccess(begin + 3 * unit, unit, &access, 1));
  EXPECT((values_of(begin + 3 * unit, 2) == std::vector<float>{6, 9}));
  RIGHT(cuMemUnmap(begin, unit));
  RIGHT(cuMemUnmap(begin + 3 * unit, unit));
  for (const auto one : handles) RIGHT(cuMemRelease(one));
  RIGHT(cuMemAddressFree(begin, 4 * unit));
}

void entry_points() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  expect_error(cudaGetDriverEntryPointByVersion("cuMemGetInfo", &found, 12000, 0, &status),
               cudaSuccess, __LINE__);
  EXPECT(found == reinterpret_cast<void*>(&cuMemGetInfo));
  RIGHT(cuGetProcAddress("cuNone", &found, 12000, 0, nullptr));
  EXPECT(found == nullptr);
  // Contexts were made with other parameters before.
  void *v2 = nullptr, *v4 = nullptr;
  RIGHT(cuGetProcAddress("cuCtxCreate", &v2, 11000, 0, nullptr));
  RIGHT(cuGetProcAddress("cuCtxCreate", &v4, 13000, 0, nullptr));
  EXPECT(v2 != v4 && v4 == reinterpret_cast<void*>(&cuCtxCreate));
  // So were nodes, and a graph's program.
  void *old = nullptr, *its = nullptr;
  RIGHT(cuGetProcAddress("cuGraphAddKernelNode", &old, 11000, 0, nullptr));
  RIGHT(cuGetProcAddress("cuGraphAddKernelNode", &its, 13000, 0, nullptr));
  EXPECT(old != its && its == reinterpret_cast<void*>(&cuGraphAddKernelNode));
  RIGHT(cuGetProcAddress("cuGraphGetEdges", &old, 12020, 0, nullptr));
  EXPECT(old != reinterpret_cast<void*>(&cuGraphGetEdges));
  RIGHT(cuGetProcAddress("cuGraphInstantiate", &its, 13000, 0, nullptr));
  EXPECT(!is_simulated() || its == reinterpret_cast<void*>(&cuGraphInstantiate));
}

int main(int argc, char** argv) {
  const std::string mistake = argc > 2 ? argv[2] : "";
  contexts();
  const CUfunction scale = modules(argv[1]);
  if (mistake == "stray") {
    CUdeviceptr small = 0;
    cuMemAlloc(&small, 8);
    const double values[2] = {};
    cuMemcpyHtoD(small, values, sizeof values);
    return 0;
  }
  mappings(scale, mistake == "gap");
  if (mistake == "gap") return 0;
  stream_words(scale, mistake == "unwritten");
  if (mistake == "unwritten") return verdict();
  launches(scale);
  graphs(scale);
  changed_graphs(scale);
  node_parameters(scale);
  captures(scale);
  graph_of_unloaded();
  waits_for_host(mistake == "late");
  links();
  copies();
  entry_points();
  RIGHT(cuDevicePrimaryCtxRelease(0));
  // A driver's error is none of the runtime's.
  expect_error(cudaGetLastError(), cudaSuccess, __LINE__);
  return verdict();
}
