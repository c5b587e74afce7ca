// Graphs: the runtime's own under the driver's names.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

// Members and numbers are the same on both sides, so a pointer to one may be read as one to the other.
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));

const cudaMemsetParams* runtimes(const CUDA_MEMSET_NODE_PARAMS* its) {
  return reinterpret_cast<const cudaMemsetParams*>(its);
}
const cudaHostNodeParams* runtimes(const CUDA_HOST_NODE_PARAMS* its) {
  return reinterpret_cast<const cudaHostNodeParams*>(its);
}

cudaKernelNodeParams runtimes(const CUDA_KERNEL_NODE_PARAMS& its) {
  // Of a library's kernel there is no function in a context.
  void* const function =
      its.func != nullptr ? static_cast<void*>(its.func) : static_cast<void*>(its.kern);
  return {function,
          {its.gridDimX, its.gridDimY, its.gridDimZ},
          {its.blockDimX, its.blockDimY, its.blockDimZ},
          its.sharedMemBytes,
          its.kernelParams,
          its.extra};
}

// Where a copy begins or ends, in linear memory.
cudaPitchedPtr linear(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t pitch,
                      std::size_t height, const CUDA_MEMCPY3D& copy) {
  void* const begin = type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : pointer_to(device);
  return {begin, pitch != 0 ? pitch : copy.WidthInBytes, copy.WidthInBytes,
          height != 0 ? height : copy.Height};
}

// Does something with the copy in the runtime's terms.
template <class Body>
CUresult with_copy(const char* name, const CUDA_MEMCPY3D* copy, Body body) {
  return answer(name, [&]() -> CUresult {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D& p = *copy;
    if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY || p.dstMemoryType == CU_MEMORYTYPE_ARRAY) {
      cudart::explain(name, "%s: copies of arrays are not in the simulator's graphs", name);
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const auto is_linear = [](CUmemorytype type) {
      return type == CU_MEMORYTYPE_HOST || type == CU_MEMORYTYPE_DEVICE ||
             type == CU_MEMORYTYPE_UNIFIED;
    };
    if (!is_linear(p.srcMemoryType) || !is_linear(p.dstMemoryType)) return CUDA_ERROR_INVALID_VALUE;
    cudaMemcpy3DParms its{};
    its.srcPtr = linear(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcPitch, p.srcHeight, p);
    its.dstPtr = linear(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstPitch, p.dstHeight, p);
    its.srcPos = {p.srcXInBytes, p.srcY, p.srcZ};
    its.dstPos = {p.dstXInBytes, p.dstY, p.dstZ};
    its.extent = {p.WidthInBytes, p.Height, p.Depth};
    its.kind = cudaMemcpyDefault;
    return result_of(body(its));
  });
}

}  // namespace

extern "C" {

// ---- Captured ----

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return in_stream("cuStreamBeginCapture", stream, [&] {
    return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return in_stream("cuStreamEndCapture", stream,
                   [&] { return cudaStreamEndCapture(stream, graph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return in_stream("cuStreamIsCapturing", stream, [&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return answer("cuThreadExchangeStreamCaptureMode", [&] {
    return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
  });
}

// ---- Graphs and their nodes ----

CUresult cuGraphCreate(CUgraph* graph, unsigned int flags) {
  return answer("cuGraphCreate", [&] { return cudaGraphCreate(graph, flags); });
}
CUresult cuGraphClone(CUgraph* copy, CUgraph original) {
  return answer("cuGraphClone", [&] { return cudaGraphClone(copy, original); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return answer("cuGraphDestroy", [&] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph copy) {
  return answer("cuGraphNodeFindInClone",
                [&] { return cudaGraphNodeFindInClone(node, original, copy); });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return answer("cuGraphDestroyNode", [&] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return answer("cuGraphAddKernelNode", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams its = runtimes(*parameters);
    return cudaGraphAddKernelNode(node, graph, before, count, &its);
  });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy("cuGraphAddMemcpyNode", copy, [&](const cudaMemcpy3DParms& its) {
    return cudaGraphAddMemcpyNode(node, graph, before, count, &its);
  });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters,
                              CUcontext) {
  return answer("cuGraphAddMemsetNode", [&] {
    return cudaGraphAddMemsetNode(node, graph, before, count, runtimes(parameters));
  });
}
CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  return answer("cuGraphAddHostNode", [&] {
    return cudaGraphAddHostNode(node, graph, before, count, runtimes(parameters));
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                  std::size_t count, CUgraph child) {
  return answer("cuGraphAddChildGraphNode",
                [&] { return cudaGraphAddChildGraphNode(node, graph, before, count, child); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                             std::size_t count) {
  return answer("cuGraphAddEmptyNode",
                [&] { return cudaGraphAddEmptyNode(node, graph, before, count); });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                   std::size_t count, CUevent event) {
  return answer("cuGraphAddEventRecordNode",
                [&] { return cudaGraphAddEventRecordNode(node, graph, before, count, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                 std::size_t count, CUevent event) {
  return answer("cuGraphAddEventWaitNode",
                [&] { return cudaGraphAddEventWaitNode(node, graph, before, count, event); });
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, std::size_t count) {
  return answer("cuGraphAddDependencies", [&] {
    return cudaGraphAddDependencies(graph, from, to,
                                    reinterpret_cast<const cudaGraphEdgeData*>(data), count);
  });
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, std::size_t count) {
  return answer("cuGraphRemoveDependencies", [&] {
    return cudaGraphRemoveDependencies(graph, from, to,
                                       reinterpret_cast<const cudaGraphEdgeData*>(data), count);
  });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return answer("cuGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return answer("cuGraphGetRootNodes", [&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                         std::size_t* count) {
  return answer("cuGraphGetEdges", [&] {
    return cudaGraphGetEdges(graph, from, to, reinterpret_cast<cudaGraphEdgeData*>(data), count);
  });
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                    std::size_t* count) {
  return answer("cuGraphNodeGetDependencies", [&] {
    return cudaGraphNodeGetDependencies(node, nodes, reinterpret_cast<cudaGraphEdgeData*>(data),
                                        count);
  });
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                      std::size_t* count) {
  return answer("cuGraphNodeGetDependentNodes", [&] {
    return cudaGraphNodeGetDependentNodes(node, nodes, reinterpret_cast<cudaGraphEdgeData*>(data),
                                          count);
  });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return answer("cuGraphNodeGetType", [&] {
    return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type));
  });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return answer("cuGraphChildGraphNodeGetGraph",
                [&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned int flags) {
  return answer("cuGraphDebugDotPrint", [&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return answer("cuGraphKernelNodeSetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams its = runtimes(*parameters);
    return cudaGraphKernelNodeSetParams(node, &its);
  });
}

// ---- Ready to be launched ----

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  return answer("cuGraphInstantiate",
                [&] { return cudaGraphInstantiateWithFlags(executable, graph, flags); });
}
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return in_stream("cuGraphUpload", stream, [&] { return cudaGraphUpload(executable, stream); });
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return in_stream("cuGraphLaunch", stream, [&] { return cudaGraphLaunch(executable, stream); });
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return answer("cuGraphExecDestroy", [&] { return cudaGraphExecDestroy(executable); });
}
CUresult cuGraphExecUpdate(CUgraphExec executable, CUgraph graph,
                           CUgraphExecUpdateResultInfo* result) {
  return answer("cuGraphExecUpdate", [&] {
    return cudaGraphExecUpdate(executable, graph,
                               reinterpret_cast<cudaGraphExecUpdateResultInfo*>(result));
  });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int is_enabled) {
  return answer("cuGraphNodeSetEnabled",
                [&] { return cudaGraphNodeSetEnabled(executable, node, is_enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned int* is_enabled) {
  return answer("cuGraphNodeGetEnabled",
                [&] { return cudaGraphNodeGetEnabled(executable, node, is_enabled); });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return answer("cuGraphExecKernelNodeSetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaKernelNodeParams its = runtimes(*parameters);
    return cudaGraphExecKernelNodeSetParams(executable, node, &its);
  });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy("cuGraphExecMemcpyNodeSetParams", copy, [&](const cudaMemcpy3DParms& its) {
    return cudaGraphExecMemcpyNodeSetParams(executable, node, &its);
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  return answer("cuGraphExecMemsetNodeSetParams", [&] {
    return cudaGraphExecMemsetNodeSetParams(executable, node, runtimes(parameters));
  });
}

}  // extern "C"

}  // namespace simt::driver
