// The functions as programs call them that were compiled with --default-stream per-thread: for them the stream 0 is
// the host thread's own.
#include <cuda_runtime_api.h>

// Old copies of arrays are there for those who still call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#include <cstddef>

namespace simt::cudart {
namespace {

cudaStream_t of_thread(cudaStream_t stream) {
  return stream != nullptr ? stream : cudaStreamPerThread;
}

}  // namespace

extern "C" {

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
                                          unsigned int flags) {
  return cudaEventRecordWithFlags(event, of_thread(stream), flags);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, of_thread(stream));
}

cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return cudaFreeAsync(pointer, of_thread(stream));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* ready, cudaGraph_t graph,
                                                cudaGraphInstantiateParams* parameters) {
  return cudaGraphInstantiateWithParams(ready, graph, parameters);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t ready, cudaStream_t stream) {
  return cudaGraphLaunch(ready, of_thread(stream));
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t ready, cudaStream_t stream) {
  return cudaGraphUpload(ready, of_thread(stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block,
                                             void** arguments, std::size_t dynamic_shared,
                                             cudaStream_t stream) {
  return cudaLaunchCooperativeKernel(function, grid, block, arguments, dynamic_shared,
                                     of_thread(stream));
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void* user_data) {
  return cudaLaunchHostFunc(of_thread(stream), function, user_data);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* configuration, const void* function,
                                     void** arguments) {
  return cudaLaunchKernelExC(configuration, function, arguments);
}

cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments,
                                  std::size_t dynamic_shared, cudaStream_t stream) {
  return cudaLaunchKernel(function, grid, block, arguments, dynamic_shared, of_thread(stream));
}

cudaError_t cudaMallocAsync_ptsz(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(pointer, bytes, of_thread(stream));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, bytes, pool, of_thread(stream));
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void* pointer, std::size_t bytes,
                                      cudaMemLocation location, unsigned int flags,
                                      cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location, flags, of_thread(stream));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void* to, std::size_t to_pitch, const void* from,
                                   std::size_t from_pitch, std::size_t width, std::size_t height,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, of_thread(stream));
}

cudaError_t cudaMemcpy2D_ptds(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, std::size_t x, std::size_t row,
                                          cudaArray_const_t from, std::size_t from_x,
                                          std::size_t from_row, std::size_t width,
                                          std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DArrayToArray(to, x, row, from, from_x, from_row, width, height, kind);
}

cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void* to, std::size_t pitch, cudaArray_const_t from,
                                            std::size_t x, std::size_t row, std::size_t width,
                                            std::size_t height, cudaMemcpyKind kind,
                                            cudaStream_t stream) {
  return cudaMemcpy2DFromArrayAsync(to, pitch, from, x, row, width, height, kind,
                                    of_thread(stream));
}

cudaError_t cudaMemcpy2DFromArray_ptds(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t row, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DFromArray(to, pitch, from, x, row, width, height, kind);
}

cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, std::size_t x, std::size_t row,
                                          const void* from, std::size_t pitch, std::size_t width,
                                          std::size_t height, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  return cudaMemcpy2DToArrayAsync(to, x, row, from, pitch, width, height, kind, of_thread(stream));
}

cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, std::size_t x, std::size_t row,
                                     const void* from, std::size_t pitch, std::size_t width,
                                     std::size_t height, cudaMemcpyKind kind) {
  return cudaMemcpy2DToArray(to, x, row, from, pitch, width, height, kind);
}

cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* to, cudaArray_const_t from, std::size_t x,
                                          std::size_t row, std::size_t bytes, cudaMemcpyKind kind,
                                          cudaStream_t stream) {
  return cudaMemcpyFromArrayAsync(to, from, x, row, bytes, kind, of_thread(stream));
}

cudaError_t cudaMemcpyFromArray_ptds(void* to, cudaArray_const_t from, std::size_t x,
                                     std::size_t row, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyFromArray(to, from, x, row, bytes, kind);
}

cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, std::size_t x, std::size_t row,
                                        const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                        cudaStream_t stream) {
  return cudaMemcpyToArrayAsync(to, x, row, from, bytes, kind, of_thread(stream));
}

cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, std::size_t x, std::size_t row, const void* from,
                                   std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyToArray(to, x, row, from, bytes, kind);
}

cudaError_t cudaMemcpy3DAsync_ptsz(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return cudaMemcpy3DAsync(parameters, of_thread(stream));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* parameters,
                                       cudaStream_t stream) {
  return cudaMemcpy3DPeerAsync(parameters, of_thread(stream));
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* parameters) {
  return cudaMemcpy3DPeer(parameters);
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms* parameters) {
  return cudaMemcpy3D(parameters);
}

cudaError_t cudaMemPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count,
                                           cudaMemLocation* locations, std::size_t* first,
                                           std::size_t number, unsigned long long flags,
                                           cudaStream_t stream) {
  return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, first, number, flags,
                                   of_thread(stream));
}

cudaError_t cudaMemDiscardBatchAsync_ptsz(void** pointers, std::size_t* sizes, std::size_t count,
                                          unsigned long long flags, cudaStream_t stream) {
  return cudaMemDiscardBatchAsync(pointers, sizes, count, flags, of_thread(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void** pointers, std::size_t* sizes,
                                                     std::size_t count, cudaMemLocation* locations,
                                                     std::size_t* first, std::size_t number,
                                                     unsigned long long flags,
                                                     cudaStream_t stream) {
  return cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, locations, first, number,
                                             flags, of_thread(stream));
}

cudaError_t cudaMemcpyBatchAsync_ptsz(void* const* to, const void* const* from,
                                      const std::size_t* bytes, std::size_t count,
                                      cudaMemcpyAttributes* attributes, std::size_t* first,
                                      std::size_t kinds, cudaStream_t stream) {
  return cudaMemcpyBatchAsync(to, from, bytes, count, attributes, first, kinds, of_thread(stream));
}

cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                 cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, of_thread(stream));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind,
                                           cudaStream_t stream) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, of_thread(stream));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void* to, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from, std::size_t bytes,
                                         std::size_t offset, cudaMemcpyKind kind,
                                         cudaStream_t stream) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, of_thread(stream));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}

cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset2DAsync_ptsz(void* pointer, std::size_t pitch, int value, std::size_t width,
                                   std::size_t height, cudaStream_t stream) {
  return cudaMemset2DAsync(pointer, pitch, value, width, height, of_thread(stream));
}

cudaError_t cudaMemset2D_ptds(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height) {
  return cudaMemset2D(pointer, pitch, value, width, height);
}

cudaError_t cudaMemset3DAsync_ptsz(cudaPitchedPtr memory, int value, cudaExtent extent,
                                   cudaStream_t stream) {
  return cudaMemset3DAsync(memory, value, extent, of_thread(stream));
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return cudaMemset3D(memory, value, extent);
}

cudaError_t cudaMemsetAsync_ptsz(void* pointer, int value, std::size_t bytes, cudaStream_t stream) {
  return cudaMemsetAsync(pointer, value, bytes, of_thread(stream));
}

cudaError_t cudaMemset_ptds(void* pointer, int value, std::size_t bytes) {
  return cudaMemset(pointer, value, bytes);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
                                       void* user_data, unsigned int flags) {
  return cudaStreamAddCallback(of_thread(stream), callback, user_data, flags);
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void* pointer, std::size_t bytes,
                                          unsigned int flags) {
  return cudaStreamAttachMemAsync(of_thread(stream), pointer, bytes, flags);
}

cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* edges, std::size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(of_thread(stream), graph, dependencies, edges, count, mode);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(of_thread(stream), mode);
}

cudaError_t cudaStreamCopyAttributes_ptsz(cudaStream_t to, cudaStream_t from) {
  return cudaStreamCopyAttributes(to, from);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(of_thread(stream), graph);
}

cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attribute,
                                        cudaStreamAttrValue* value) {
  return cudaStreamGetAttribute(of_thread(stream), attribute, value);
}

cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** dependencies,
                                          const cudaGraphEdgeData** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo(of_thread(stream), status, id, graph, dependencies, edges, count);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(of_thread(stream), device);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int* flags) {
  return cudaStreamGetFlags(of_thread(stream), flags);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id) {
  return cudaStreamGetId(of_thread(stream), id);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int* priority) {
  return cudaStreamGetPriority(of_thread(stream), priority);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(of_thread(stream), status);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(of_thread(stream)); }

cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, cudaStreamAttrID attribute,
                                        const cudaStreamAttrValue* value) {
  return cudaStreamSetAttribute(of_thread(stream), attribute, value);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(of_thread(stream));
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                     cudaGraphNode_t* dependencies,
                                                     const cudaGraphEdgeData* edges,
                                                     std::size_t count, unsigned int flags) {
  return cudaStreamUpdateCaptureDependencies(of_thread(stream), dependencies, edges, count, flags);
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(of_thread(stream), event, flags);
}

}  // extern "C"

}  // namespace simt::cudart
