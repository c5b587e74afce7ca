// Functions of CUDA 13's driver, and those beside it for graphics, that are not here. Whoever links one finds it, or asks for its address, and is told when it is
// called. All take what they like: so their own declarations are not included.
#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>

#include "common/simt/driver/calls.hpp"

namespace simt::driver::refused {
namespace {

CUresult refuse(const char* name) {
  return answer(name, [&] { return cudart::refused(name); });
}

// The file of the library that this address of code is in; empty: it is the program's own.
std::string library_of(const void* code) {
  Dl_info info = {};
  void* extra = nullptr;
  if (dladdr1(code, &info, &extra, RTLD_DL_LINKMAP) == 0) return "";
  // The program's name in its list is empty.
  return std::filesystem::path(static_cast<const link_map*>(extra)->l_name).filename().string();
}

}  // namespace

extern "C" {

CUresult cuArrayGetMemoryRequirements() { return refuse(__func__); }
CUresult cuArrayGetPlane() { return refuse(__func__); }
CUresult cuArrayGetSparseProperties() { return refuse(__func__); }
CUresult cuCheckpointProcessCheckpoint() { return refuse(__func__); }
CUresult cuCheckpointProcessGetRestoreThreadId() { return refuse(__func__); }
CUresult cuCheckpointProcessGetState() { return refuse(__func__); }
CUresult cuCheckpointProcessLock() { return refuse(__func__); }
CUresult cuCheckpointProcessRestore() { return refuse(__func__); }
CUresult cuCheckpointProcessUnlock() { return refuse(__func__); }
CUresult cuCoredumpGetAttribute() { return refuse(__func__); }
CUresult cuCoredumpGetAttributeGlobal() { return refuse(__func__); }
CUresult cuCoredumpSetAttribute() { return refuse(__func__); }
CUresult cuCoredumpSetAttributeGlobal() { return refuse(__func__); }
CUresult cuCtxFromGreenCtx() { return refuse(__func__); }
CUresult cuCtxGetDevResource() { return refuse(__func__); }
CUresult cuCtxGetExecAffinity() { return refuse(__func__); }
CUresult cuCtxRecordEvent() { return refuse(__func__); }
CUresult cuCtxResetPersistingL2Cache() { return refuse(__func__); }
CUresult cuCtxSetFlags() { return refuse(__func__); }
CUresult cuCtxWaitEvent() { return refuse(__func__); }
CUresult cuDestroyExternalMemory() { return refuse(__func__); }
CUresult cuDestroyExternalSemaphore() { return refuse(__func__); }
CUresult cuDevResourceGenerateDesc() { return refuse(__func__); }
CUresult cuDevSmResourceSplitByCount() { return refuse(__func__); }
CUresult cuDeviceGetDevResource() { return refuse(__func__); }
CUresult cuDeviceGetExecAffinitySupport() { return refuse(__func__); }
CUresult cuDeviceGetGraphMemAttribute() { return refuse(__func__); }
CUresult cuDeviceGetHostAtomicCapabilities() { return refuse(__func__); }
CUresult cuDeviceGetLuid() { return refuse(__func__); }
CUresult cuDeviceGetNvSciSyncAttributes() { return refuse(__func__); }
CUresult cuDeviceGetP2PAtomicCapabilities() { return refuse(__func__); }
CUresult cuDeviceGetP2PAttribute() { return refuse(__func__); }
CUresult cuDeviceGetTexture1DLinearMaxWidth() { return refuse(__func__); }
CUresult cuDeviceGraphMemTrim() { return refuse(__func__); }
CUresult cuDeviceRegisterAsyncNotification() { return refuse(__func__); }
CUresult cuDeviceSetGraphMemAttribute() { return refuse(__func__); }
CUresult cuDeviceUnregisterAsyncNotification() { return refuse(__func__); }
CUresult cuEGLStreamConsumerAcquireFrame() { return refuse(__func__); }
CUresult cuEGLStreamConsumerConnect() { return refuse(__func__); }
CUresult cuEGLStreamConsumerConnectWithFlags() { return refuse(__func__); }
CUresult cuEGLStreamConsumerDisconnect() { return refuse(__func__); }
CUresult cuEGLStreamConsumerReleaseFrame() { return refuse(__func__); }
CUresult cuEGLStreamProducerConnect() { return refuse(__func__); }
CUresult cuEGLStreamProducerDisconnect() { return refuse(__func__); }
CUresult cuEGLStreamProducerPresentFrame() { return refuse(__func__); }
CUresult cuEGLStreamProducerReturnFrame() { return refuse(__func__); }
CUresult cuEventCreateFromEGLSync() { return refuse(__func__); }
CUresult cuExternalMemoryGetMappedBuffer() { return refuse(__func__); }
CUresult cuExternalMemoryGetMappedMipmappedArray() { return refuse(__func__); }
CUresult cuFlushGPUDirectRDMAWrites() { return refuse(__func__); }
CUresult cuFuncIsLoaded() { return refuse(__func__); }
CUresult cuGLCtxCreate() { return refuse(__func__); }
CUresult cuGLGetDevices() { return refuse(__func__); }
CUresult cuGLInit() { return refuse(__func__); }
CUresult cuGLMapBufferObject() { return refuse(__func__); }
CUresult cuGLMapBufferObjectAsync() { return refuse(__func__); }
CUresult cuGLRegisterBufferObject() { return refuse(__func__); }
CUresult cuGLSetBufferObjectMapFlags() { return refuse(__func__); }
CUresult cuGLUnmapBufferObject() { return refuse(__func__); }
CUresult cuGLUnmapBufferObjectAsync() { return refuse(__func__); }
CUresult cuGLUnregisterBufferObject() { return refuse(__func__); }
// Only NVIDIA's libraries know what is in one.
CUresult cuGetExportTable() {
  const std::string library = library_of(__builtin_return_address(0));
  if (library.empty()) {
    cudart::explain(
        "export table",
        "NVIDIA's own runtime library is in this program, and cannot run here: link with "
        "-cudart shared, or build with simcc, which has another");
  } else {
    cudart::explain(
        ("export table " + library).c_str(),
        "NVIDIA's own runtime library is in %s, and cannot run here: if it is yours, build "
        "it with -cudart shared or simcc; of NVIDIA's libraries the simulator has cuBLAS "
        "and cuRAND, for programs that simcc links",
        library.c_str());
  }
  return refuse(__func__);
}
CUresult cuGraphAddBatchMemOpNode() { return refuse(__func__); }
CUresult cuGraphAddChildGraphNode() { return refuse(__func__); }
CUresult cuGraphAddDependencies_v2() { return refuse(__func__); }
CUresult cuGraphAddEmptyNode() { return refuse(__func__); }
CUresult cuGraphAddEventRecordNode() { return refuse(__func__); }
CUresult cuGraphAddEventWaitNode() { return refuse(__func__); }
CUresult cuGraphAddExternalSemaphoresSignalNode() { return refuse(__func__); }
CUresult cuGraphAddExternalSemaphoresWaitNode() { return refuse(__func__); }
CUresult cuGraphAddHostNode() { return refuse(__func__); }
CUresult cuGraphAddKernelNode_v2() { return refuse(__func__); }
CUresult cuGraphAddMemAllocNode() { return refuse(__func__); }
CUresult cuGraphAddMemFreeNode() { return refuse(__func__); }
CUresult cuGraphAddMemcpyNode() { return refuse(__func__); }
CUresult cuGraphAddMemsetNode() { return refuse(__func__); }
CUresult cuGraphAddNode_v2() { return refuse(__func__); }
CUresult cuGraphBatchMemOpNodeGetParams() { return refuse(__func__); }
CUresult cuGraphBatchMemOpNodeSetParams() { return refuse(__func__); }
CUresult cuGraphChildGraphNodeGetGraph() { return refuse(__func__); }
CUresult cuGraphClone() { return refuse(__func__); }
CUresult cuGraphConditionalHandleCreate() { return refuse(__func__); }
CUresult cuGraphCreate() { return refuse(__func__); }
CUresult cuGraphDebugDotPrint() { return refuse(__func__); }
CUresult cuGraphDestroyNode() { return refuse(__func__); }
CUresult cuGraphEventRecordNodeGetEvent() { return refuse(__func__); }
CUresult cuGraphEventRecordNodeSetEvent() { return refuse(__func__); }
CUresult cuGraphEventWaitNodeGetEvent() { return refuse(__func__); }
CUresult cuGraphEventWaitNodeSetEvent() { return refuse(__func__); }
CUresult cuGraphExecBatchMemOpNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecChildGraphNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecEventRecordNodeSetEvent() { return refuse(__func__); }
CUresult cuGraphExecEventWaitNodeSetEvent() { return refuse(__func__); }
CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecGetFlags() { return refuse(__func__); }
CUresult cuGraphExecHostNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecKernelNodeSetParams_v2() { return refuse(__func__); }
CUresult cuGraphExecMemcpyNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecMemsetNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExecUpdate_v2() { return refuse(__func__); }
CUresult cuGraphExternalSemaphoresSignalNodeGetParams() { return refuse(__func__); }
CUresult cuGraphExternalSemaphoresSignalNodeSetParams() { return refuse(__func__); }
CUresult cuGraphExternalSemaphoresWaitNodeGetParams() { return refuse(__func__); }
CUresult cuGraphExternalSemaphoresWaitNodeSetParams() { return refuse(__func__); }
CUresult cuGraphGetEdges_v2() { return refuse(__func__); }
CUresult cuGraphGetNodes() { return refuse(__func__); }
CUresult cuGraphGetRootNodes() { return refuse(__func__); }
CUresult cuGraphHostNodeGetParams() { return refuse(__func__); }
CUresult cuGraphHostNodeSetParams() { return refuse(__func__); }
CUresult cuGraphInstantiateWithParams() { return refuse(__func__); }
CUresult cuGraphKernelNodeCopyAttributes() { return refuse(__func__); }
CUresult cuGraphKernelNodeGetAttribute() { return refuse(__func__); }
CUresult cuGraphKernelNodeGetParams_v2() { return refuse(__func__); }
CUresult cuGraphKernelNodeSetAttribute() { return refuse(__func__); }
CUresult cuGraphKernelNodeSetParams_v2() { return refuse(__func__); }
CUresult cuGraphMemAllocNodeGetParams() { return refuse(__func__); }
CUresult cuGraphMemFreeNodeGetParams() { return refuse(__func__); }
CUresult cuGraphMemcpyNodeGetParams() { return refuse(__func__); }
CUresult cuGraphMemcpyNodeSetParams() { return refuse(__func__); }
CUresult cuGraphMemsetNodeGetParams() { return refuse(__func__); }
CUresult cuGraphMemsetNodeSetParams() { return refuse(__func__); }
CUresult cuGraphNodeFindInClone() { return refuse(__func__); }
CUresult cuGraphNodeGetDependencies_v2() { return refuse(__func__); }
CUresult cuGraphNodeGetDependentNodes_v2() { return refuse(__func__); }
CUresult cuGraphNodeGetEnabled() { return refuse(__func__); }
CUresult cuGraphNodeGetType() { return refuse(__func__); }
CUresult cuGraphNodeSetEnabled() { return refuse(__func__); }
CUresult cuGraphNodeSetParams() { return refuse(__func__); }
CUresult cuGraphReleaseUserObject() { return refuse(__func__); }
CUresult cuGraphRemoveDependencies_v2() { return refuse(__func__); }
CUresult cuGraphRetainUserObject() { return refuse(__func__); }
CUresult cuGraphicsEGLRegisterImage() { return refuse(__func__); }
CUresult cuGraphicsGLRegisterBuffer() { return refuse(__func__); }
CUresult cuGraphicsGLRegisterImage() { return refuse(__func__); }
CUresult cuGraphicsMapResources() { return refuse(__func__); }
CUresult cuGraphicsResourceGetMappedEglFrame() { return refuse(__func__); }
CUresult cuGraphicsResourceGetMappedMipmappedArray() { return refuse(__func__); }
CUresult cuGraphicsResourceGetMappedPointer_v2() { return refuse(__func__); }
CUresult cuGraphicsResourceSetMapFlags_v2() { return refuse(__func__); }
CUresult cuGraphicsSubResourceGetMappedArray() { return refuse(__func__); }
CUresult cuGraphicsUnmapResources() { return refuse(__func__); }
CUresult cuGraphicsUnregisterResource() { return refuse(__func__); }
CUresult cuGraphicsVDPAURegisterOutputSurface() { return refuse(__func__); }
CUresult cuGraphicsVDPAURegisterVideoSurface() { return refuse(__func__); }
CUresult cuGreenCtxCreate() { return refuse(__func__); }
CUresult cuGreenCtxDestroy() { return refuse(__func__); }
CUresult cuGreenCtxGetDevResource() { return refuse(__func__); }
CUresult cuGreenCtxGetId() { return refuse(__func__); }
CUresult cuGreenCtxRecordEvent() { return refuse(__func__); }
CUresult cuGreenCtxStreamCreate() { return refuse(__func__); }
CUresult cuGreenCtxWaitEvent() { return refuse(__func__); }
CUresult cuImportExternalMemory() { return refuse(__func__); }
CUresult cuImportExternalSemaphore() { return refuse(__func__); }
CUresult cuIpcCloseMemHandle() { return refuse(__func__); }
CUresult cuIpcGetEventHandle() { return refuse(__func__); }
CUresult cuIpcGetMemHandle() { return refuse(__func__); }
CUresult cuIpcOpenEventHandle() { return refuse(__func__); }
CUresult cuIpcOpenMemHandle_v2() { return refuse(__func__); }
CUresult cuLaunchCooperativeKernelMultiDevice() { return refuse(__func__); }
CUresult cuLibraryGetUnifiedFunction() { return refuse(__func__); }
CUresult cuLogsCurrent() { return refuse(__func__); }
CUresult cuLogsDumpToFile() { return refuse(__func__); }
CUresult cuLogsDumpToMemory() { return refuse(__func__); }
CUresult cuLogsRegisterCallback() { return refuse(__func__); }
CUresult cuLogsUnregisterCallback() { return refuse(__func__); }
CUresult cuMemBatchDecompressAsync() { return refuse(__func__); }
CUresult cuMemExportToShareableHandle() { return refuse(__func__); }
CUresult cuMemGetDefaultMemPool() { return refuse(__func__); }
CUresult cuMemGetHandleForAddressRange() { return refuse(__func__); }
CUresult cuMemGetMemPool() { return refuse(__func__); }
CUresult cuMemImportFromShareableHandle() { return refuse(__func__); }
CUresult cuMemMapArrayAsync() { return refuse(__func__); }
CUresult cuMemPoolExportPointer() { return refuse(__func__); }
CUresult cuMemPoolExportToShareableHandle() { return refuse(__func__); }
CUresult cuMemPoolGetAccess() { return refuse(__func__); }
CUresult cuMemPoolImportFromShareableHandle() { return refuse(__func__); }
CUresult cuMemPoolImportPointer() { return refuse(__func__); }
CUresult cuMemPoolSetAccess() { return refuse(__func__); }
CUresult cuMemRetainAllocationHandle() { return refuse(__func__); }
CUresult cuMemSetMemPool() { return refuse(__func__); }
CUresult cuMemcpy3DBatchAsync_v2() { return refuse(__func__); }
CUresult cuMemcpyBatchAsync_v2() { return refuse(__func__); }
CUresult cuMipmappedArrayGetMemoryRequirements() { return refuse(__func__); }
CUresult cuMipmappedArrayGetSparseProperties() { return refuse(__func__); }
CUresult cuModuleGetSurfRef() { return refuse(__func__); }
CUresult cuModuleGetTexRef() { return refuse(__func__); }
CUresult cuMulticastAddDevice() { return refuse(__func__); }
CUresult cuMulticastBindAddr() { return refuse(__func__); }
CUresult cuMulticastBindMem() { return refuse(__func__); }
CUresult cuMulticastCreate() { return refuse(__func__); }
CUresult cuMulticastGetGranularity() { return refuse(__func__); }
CUresult cuMulticastUnbind() { return refuse(__func__); }
CUresult cuOccupancyMaxActiveClusters() { return refuse(__func__); }
CUresult cuParamSetTexRef() { return refuse(__func__); }
CUresult cuPointerSetAttribute() { return refuse(__func__); }
CUresult cuProfilerInitialize() { return refuse(__func__); }
CUresult cuSignalExternalSemaphoresAsync() { return refuse(__func__); }
CUresult cuStreamBatchMemOp_v2() { return refuse(__func__); }
CUresult cuStreamBeginCaptureToGraph() { return refuse(__func__); }
CUresult cuStreamGetCaptureInfo_v2() { return refuse(__func__); }
CUresult cuStreamGetCaptureInfo_v3() { return refuse(__func__); }
CUresult cuStreamGetGreenCtx() { return refuse(__func__); }
CUresult cuStreamUpdateCaptureDependencies_v2() { return refuse(__func__); }
CUresult cuStreamWaitValue32_v2() { return refuse(__func__); }
CUresult cuStreamWaitValue64_v2() { return refuse(__func__); }
CUresult cuStreamWriteValue32_v2() { return refuse(__func__); }
CUresult cuStreamWriteValue64_v2() { return refuse(__func__); }
CUresult cuSurfObjectGetResourceDesc() { return refuse(__func__); }
CUresult cuSurfRefGetArray() { return refuse(__func__); }
CUresult cuSurfRefSetArray() { return refuse(__func__); }
CUresult cuTensorMapEncodeIm2colWide() { return refuse(__func__); }
CUresult cuTexObjectGetResourceDesc() { return refuse(__func__); }
CUresult cuTexObjectGetTextureDesc() { return refuse(__func__); }
CUresult cuTexRefCreate() { return refuse(__func__); }
CUresult cuTexRefDestroy() { return refuse(__func__); }
CUresult cuTexRefGetAddressMode() { return refuse(__func__); }
CUresult cuTexRefGetAddress_v2() { return refuse(__func__); }
CUresult cuTexRefGetArray() { return refuse(__func__); }
CUresult cuTexRefGetBorderColor() { return refuse(__func__); }
CUresult cuTexRefGetFilterMode() { return refuse(__func__); }
CUresult cuTexRefGetFlags() { return refuse(__func__); }
CUresult cuTexRefGetFormat() { return refuse(__func__); }
CUresult cuTexRefGetMaxAnisotropy() { return refuse(__func__); }
CUresult cuTexRefGetMipmapFilterMode() { return refuse(__func__); }
CUresult cuTexRefGetMipmapLevelBias() { return refuse(__func__); }
CUresult cuTexRefGetMipmapLevelClamp() { return refuse(__func__); }
CUresult cuTexRefGetMipmappedArray() { return refuse(__func__); }
CUresult cuTexRefSetAddress2D_v2() { return refuse(__func__); }
CUresult cuTexRefSetAddress2D_v3() { return refuse(__func__); }
CUresult cuTexRefSetAddressMode() { return refuse(__func__); }
CUresult cuTexRefSetAddress_v2() { return refuse(__func__); }
CUresult cuTexRefSetArray() { return refuse(__func__); }
CUresult cuTexRefSetBorderColor() { return refuse(__func__); }
CUresult cuTexRefSetFilterMode() { return refuse(__func__); }
CUresult cuTexRefSetFlags() { return refuse(__func__); }
CUresult cuTexRefSetFormat() { return refuse(__func__); }
CUresult cuTexRefSetMaxAnisotropy() { return refuse(__func__); }
CUresult cuTexRefSetMipmapFilterMode() { return refuse(__func__); }
CUresult cuTexRefSetMipmapLevelBias() { return refuse(__func__); }
CUresult cuTexRefSetMipmapLevelClamp() { return refuse(__func__); }
CUresult cuTexRefSetMipmappedArray() { return refuse(__func__); }
CUresult cuThreadExchangeStreamCaptureMode() { return refuse(__func__); }
CUresult cuUserObjectCreate() { return refuse(__func__); }
CUresult cuUserObjectRelease() { return refuse(__func__); }
CUresult cuUserObjectRetain() { return refuse(__func__); }
CUresult cuVDPAUCtxCreate() { return refuse(__func__); }
CUresult cuVDPAUGetDevice() { return refuse(__func__); }
CUresult cuWaitExternalSemaphoresAsync() { return refuse(__func__); }

}  // extern "C"

}  // namespace simt::driver::refused
