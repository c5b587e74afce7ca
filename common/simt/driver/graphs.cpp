// Graphs: the runtime's own under the driver's names.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

// Members and numbers are the same on both sides, so a pointer to one may be read as one to the other.
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));

const cudaMemsetParams* runtimes(const CUDA_MEMSET_NODE_PARAMS* its) {
  return reinterpret_cast<const cudaMemsetParams*>(its);
}
const cudaHostNodeParams* runtimes(const CUDA_HOST_NODE_PARAMS* its) {
  return reinterpret_cast<const cudaHostNodeParams*>(its);
}

// Of either name of such parameters.
template <class Kernel>
cudaKernelNodeParams runtimes(const Kernel& its) {
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

// The copy in the runtime's terms.
CUresult read_copy(const char* name, const CUDA_MEMCPY3D* copy, cudaMemcpy3DParms& its) {
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
  its = {};
  its.srcPtr = linear(p.srcMemoryType, p.srcHost, p.srcDevice, p.srcPitch, p.srcHeight, p);
  its.dstPtr = linear(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstPitch, p.dstHeight, p);
  its.srcPos = {p.srcXInBytes, p.srcY, p.srcZ};
  its.dstPos = {p.dstXInBytes, p.dstY, p.dstZ};
  its.extent = {p.WidthInBytes, p.Height, p.Depth};
  its.kind = cudaMemcpyDefault;
  return CUDA_SUCCESS;
}

template <class Body>
CUresult with_copy(const char* name, const CUDA_MEMCPY3D* copy, Body body) {
  return answer(name, [&] {
    cudaMemcpy3DParms its;
    const CUresult result = read_copy(name, copy, its);
    return result != CUDA_SUCCESS ? result : result_of(body(its));
  });
}

// The parameters of a node of any type, and what the call answers in them.
template <class Body>
CUresult with_node(const char* name, CUgraphNodeParams* parameters, Body body) {
  return answer(name, [&]() -> CUresult {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cudaGraphNodeParams its{};
    std::memcpy(static_cast<void*>(&its), parameters, sizeof its);
    if (parameters->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      const cudaKernelNodeParams kernel = runtimes(parameters->kernel);
      its.kernel = {kernel.func,           kernel.gridDim,      kernel.blockDim,
                    kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
    } else if (parameters->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
      const CUresult result =
          read_copy(name, &parameters->memcpy.copyParams, its.memcpy.copyParams);
      if (result != CUDA_SUCCESS) return result;
    }
    const CUresult result = result_of(body(&its));
    if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
      parameters->alloc.dptr = address_in(its.alloc.dptr);
    } else if (parameters->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      parameters->conditional.phGraph_out = its.conditional.phGraph_out;
    }
    return result;
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
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* before,
                                     const CUgraphEdgeData* data, std::size_t count,
                                     CUstreamCaptureMode mode) {
  return in_stream("cuStreamBeginCaptureToGraph", stream, [&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, before,
                                         reinterpret_cast<const cudaGraphEdgeData*>(data), count,
                                         static_cast<cudaStreamCaptureMode>(mode));
  });
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* number,
                                CUgraph* graph, const CUgraphNode** before,
                                const CUgraphEdgeData** data, std::size_t* count) {
  return in_stream("cuStreamGetCaptureInfo", stream, [&] {
    unsigned long long its_number = 0;
    const cudaError_t error = cudaStreamGetCaptureInfo(
        stream, reinterpret_cast<cudaStreamCaptureStatus*>(status), &its_number, graph, before,
        reinterpret_cast<const cudaGraphEdgeData**>(data), count);
    if (number != nullptr && its_number != 0) *number = its_number;
    return error;
  });
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* before,
                                           const CUgraphEdgeData* data, std::size_t count,
                                           unsigned int flags) {
  return in_stream("cuStreamUpdateCaptureDependencies", stream, [&] {
    return cudaStreamUpdateCaptureDependencies(
        stream, before, reinterpret_cast<const cudaGraphEdgeData*>(data), count, flags);
  });
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
CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return answer("cuGraphAddMemAllocNode", [&] {
    return cudaGraphAddMemAllocNode(node, graph, before, count,
                                    reinterpret_cast<cudaMemAllocNodeParams*>(parameters));
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                               std::size_t count, CUdeviceptr address) {
  return answer("cuGraphAddMemFreeNode", [&] {
    return cudaGraphAddMemFreeNode(node, graph, before, count, pointer_to(address));
  });
}
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                        const CUgraphEdgeData* data, std::size_t count,
                        CUgraphNodeParams* parameters) {
  return with_node("cuGraphAddNode", parameters, [&](cudaGraphNodeParams* its) {
    return cudaGraphAddNode(node, graph, before, reinterpret_cast<const cudaGraphEdgeData*>(data),
                            count, its);
  });
}
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext,
                                        unsigned int value, unsigned int flags) {
  return answer("cuGraphConditionalHandleCreate", [&] {
    cudaGraphConditionalHandle its = 0;
    const cudaError_t error =
        cudaGraphConditionalHandleCreate(handle != nullptr ? &its : nullptr, graph, value, flags);
    if (error == cudaSuccess) *handle = its;
    return error;
  });
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

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return answer("cuGraphKernelNodeGetParams", [&] {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    cudaKernelNodeParams its{};
    cudaFunction_t function = nullptr;
    cudaError_t error = cudaGraphKernelNodeGetParams(node, &its);
    if (error == cudaSuccess) error = cudaGetFuncBySymbol(&function, its.func);
    if (error != cudaSuccess) return error;
    *parameters = {function,         its.gridDim.x,  its.gridDim.y,        its.gridDim.z,
                   its.blockDim.x,   its.blockDim.y, its.blockDim.z,       its.sharedMemBytes,
                   its.kernelParams, its.extra,      /* kern = */ nullptr, current_context()};
    return cudaSuccess;
  });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUkernelNodeAttrValue* value) {
  return answer("cuGraphKernelNodeGetAttribute", [&] {
    return cudaGraphKernelNodeGetAttribute(node, static_cast<cudaLaunchAttributeID>(attribute),
                                           reinterpret_cast<cudaLaunchAttributeValue*>(value));
  });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUkernelNodeAttrValue* value) {
  return answer("cuGraphKernelNodeSetAttribute", [&] {
    return cudaGraphKernelNodeSetAttribute(
        node, static_cast<cudaLaunchAttributeID>(attribute),
        reinterpret_cast<const cudaLaunchAttributeValue*>(value));
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return answer("cuGraphKernelNodeCopyAttributes",
                [&] { return cudaGraphKernelNodeCopyAttributes(to, from); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  return answer("cuGraphMemcpyNodeGetParams", [&] {
    if (copy == nullptr) return cudaErrorInvalidValue;
    cudaMemcpy3DParms its{};
    const cudaError_t error = cudaGraphMemcpyNodeGetParams(node, &its);
    if (error != cudaSuccess) return error;
    if (its.srcArray != nullptr || its.dstArray != nullptr) return cudaErrorNotSupported;
    *copy = {};
    copy->srcMemoryType = copy->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy->srcXInBytes = its.srcPos.x;
    copy->srcY = its.srcPos.y;
    copy->srcZ = its.srcPos.z;
    copy->srcDevice = address_in(its.srcPtr.ptr);
    copy->srcPitch = its.srcPtr.pitch;
    copy->srcHeight = its.srcPtr.ysize;
    copy->dstXInBytes = its.dstPos.x;
    copy->dstY = its.dstPos.y;
    copy->dstZ = its.dstPos.z;
    copy->dstDevice = address_in(its.dstPtr.ptr);
    copy->dstPitch = its.dstPtr.pitch;
    copy->dstHeight = its.dstPtr.ysize;
    copy->WidthInBytes = its.extent.width;
    copy->Height = its.extent.height;
    copy->Depth = its.extent.depth;
    return cudaSuccess;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return with_copy("cuGraphMemcpyNodeSetParams", copy, [&](const cudaMemcpy3DParms& its) {
    return cudaGraphMemcpyNodeSetParams(node, &its);
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return answer("cuGraphMemsetNodeGetParams", [&] {
    return cudaGraphMemsetNodeGetParams(node, reinterpret_cast<cudaMemsetParams*>(parameters));
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  return answer("cuGraphMemsetNodeSetParams",
                [&] { return cudaGraphMemsetNodeSetParams(node, runtimes(parameters)); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  return answer("cuGraphHostNodeGetParams", [&] {
    return cudaGraphHostNodeGetParams(node, reinterpret_cast<cudaHostNodeParams*>(parameters));
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  return answer("cuGraphHostNodeSetParams",
                [&] { return cudaGraphHostNodeSetParams(node, runtimes(parameters)); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  return answer("cuGraphMemAllocNodeGetParams", [&] {
    return cudaGraphMemAllocNodeGetParams(node,
                                          reinterpret_cast<cudaMemAllocNodeParams*>(parameters));
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return answer("cuGraphMemFreeNodeGetParams",
                [&] { return cudaGraphMemFreeNodeGetParams(node, address); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return answer("cuGraphEventRecordNodeGetEvent",
                [&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return answer("cuGraphEventRecordNodeSetEvent",
                [&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return answer("cuGraphEventWaitNodeGetEvent",
                [&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return answer("cuGraphEventWaitNodeSetEvent",
                [&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* parameters) {
  return with_node("cuGraphNodeSetParams", parameters,
                   [&](cudaGraphNodeParams* its) { return cudaGraphNodeSetParams(node, its); });
}

// ---- What a graph keeps of the program's ----

CUresult cuUserObjectCreate(CUuserObject* object, void* its, CUhostFn destroy, unsigned int count,
                            unsigned int flags) {
  return answer("cuUserObjectCreate",
                [&] { return cudaUserObjectCreate(object, its, destroy, count, flags); });
}
CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return answer("cuUserObjectRetain", [&] { return cudaUserObjectRetain(object, count); });
}
CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return answer("cuUserObjectRelease", [&] { return cudaUserObjectRelease(object, count); });
}
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                 unsigned int flags) {
  return answer("cuGraphRetainUserObject",
                [&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}
CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  return answer("cuGraphReleaseUserObject",
                [&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

// ---- Ready to be launched ----

CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph,
                                     unsigned long long flags) {
  return answer("cuGraphInstantiate",
                [&] { return cudaGraphInstantiateWithFlags(executable, graph, flags); });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return answer("cuGraphInstantiateWithParams", [&] {
    return cudaGraphInstantiateWithParams(
        executable, graph, reinterpret_cast<cudaGraphInstantiateParams*>(parameters));
  });
}
CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t* flags) {
  return answer("cuGraphExecGetFlags", [&] {
    unsigned long long its = 0;
    const cudaError_t error = cudaGraphExecGetFlags(executable, flags != nullptr ? &its : nullptr);
    if (error == cudaSuccess) *flags = its;
    return error;
  });
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

CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* parameters) {
  return answer("cuGraphExecHostNodeSetParams", [&] {
    return cudaGraphExecHostNodeSetParams(executable, node, runtimes(parameters));
  });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph child) {
  return answer("cuGraphExecChildGraphNodeSetParams",
                [&] { return cudaGraphExecChildGraphNodeSetParams(executable, node, child); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                            CUevent event) {
  return answer("cuGraphExecEventRecordNodeSetEvent",
                [&] { return cudaGraphExecEventRecordNodeSetEvent(executable, node, event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return answer("cuGraphExecEventWaitNodeSetEvent",
                [&] { return cudaGraphExecEventWaitNodeSetEvent(executable, node, event); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                  CUgraphNodeParams* parameters) {
  return with_node("cuGraphExecNodeSetParams", parameters, [&](cudaGraphNodeParams* its) {
    return cudaGraphExecNodeSetParams(executable, node, its);
  });
}

}  // extern "C"

}  // namespace simt::driver
