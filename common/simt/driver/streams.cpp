// Streams and events, which are the runtime's own under the driver's names.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "common/simt/driver/calls.hpp"

namespace simt::driver {

extern "C" {

// ---- Streams ----

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return in_context("cuStreamCreate", [&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return in_context("cuStreamCreateWithPriority",
                    [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return in_stream("cuStreamDestroy", stream, [&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return in_stream("cuStreamSynchronize", stream, [&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return in_stream("cuStreamQuery", stream, [&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return in_stream("cuStreamWaitEvent", stream,
                   [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return in_stream("cuStreamGetFlags", stream, [&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return in_stream("cuStreamGetPriority", stream,
                   [&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* number) {
  return in_stream("cuStreamGetId", stream, [&] { return cudaStreamGetId(stream, number); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return in_stream("cuStreamGetDevice", stream,
                   [&] { return cudaStreamGetDevice(stream, device); });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return in_stream("cuStreamGetCtx", stream, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context() != nullptr ? current_context() : primary_context();
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes,
                                unsigned int flags) {
  return in_stream("cuStreamAttachMemAsync", stream, [&] {
    return cudaStreamAttachMemAsync(stream, pointer_to(address), bytes, flags);
  });
}
// The runtime's attributes are the driver's.
CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  return in_stream("cuStreamSetAttribute", stream, [&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return in_stream("cuStreamGetAttribute", stream, [&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(attribute),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return in_stream("cuStreamCopyAttributes", to,
                   [&] { return cudaStreamCopyAttributes(to, from); });
}
// A callback is told a success, which has the same number on both sides.
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* user_data,
                             unsigned int flags) {
  return in_stream("cuStreamAddCallback", stream, [&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback),
                                 user_data, flags);
  });
}
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* user_data) {
  return in_stream("cuLaunchHostFunc", stream,
                   [&] { return cudaLaunchHostFunc(stream, function, user_data); });
}

// ---- Events ----

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return in_context("cuEventCreate", [&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return answer("cuEventDestroy", [&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_stream("cuEventRecord", stream, [&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return in_stream("cuEventRecordWithFlags", stream,
                   [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventQuery(CUevent event) {
  return answer("cuEventQuery", [&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return answer("cuEventSynchronize", [&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return answer("cuEventElapsedTime",
                [&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

}  // extern "C"

}  // namespace simt::driver
