// Functions of CUDA 13's runtime that are not here. Whoever links one finds it, and is told when it is called. All
// return an error and take what they like: so their own declarations are not included.
#include "common/simt/cudart/calls.hpp"

namespace simt::cudart {

extern "C" {

cudaError_t __cudaGetProcAddress() { return refused(__func__); }
cudaError_t cudaArrayGetMemoryRequirements() { return refused(__func__); }
cudaError_t cudaArrayGetPlane() { return refused(__func__); }
cudaError_t cudaArrayGetSparseProperties() { return refused(__func__); }
cudaError_t cudaDestroyExternalMemory() { return refused(__func__); }
cudaError_t cudaDestroyExternalSemaphore() { return refused(__func__); }
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites() { return refused(__func__); }
cudaError_t cudaDeviceGetHostAtomicCapabilities() { return refused(__func__); }
cudaError_t cudaDeviceGetNvSciSyncAttributes() { return refused(__func__); }
cudaError_t cudaDeviceGetP2PAtomicCapabilities() { return refused(__func__); }
cudaError_t cudaDeviceRegisterAsyncNotification() { return refused(__func__); }
cudaError_t cudaDeviceUnregisterAsyncNotification() { return refused(__func__); }
cudaError_t cudaEGLStreamConsumerAcquireFrame() { return refused(__func__); }
cudaError_t cudaEGLStreamConsumerConnect() { return refused(__func__); }
cudaError_t cudaEGLStreamConsumerConnectWithFlags() { return refused(__func__); }
cudaError_t cudaEGLStreamConsumerDisconnect() { return refused(__func__); }
cudaError_t cudaEGLStreamConsumerReleaseFrame() { return refused(__func__); }
cudaError_t cudaEGLStreamProducerConnect() { return refused(__func__); }
cudaError_t cudaEGLStreamProducerDisconnect() { return refused(__func__); }
cudaError_t cudaEGLStreamProducerPresentFrame() { return refused(__func__); }
cudaError_t cudaEGLStreamProducerReturnFrame() { return refused(__func__); }
cudaError_t cudaEventCreateFromEGLSync() { return refused(__func__); }
cudaError_t cudaExternalMemoryGetMappedBuffer() { return refused(__func__); }
cudaError_t cudaExternalMemoryGetMappedMipmappedArray() { return refused(__func__); }
cudaError_t cudaGLGetDevices() { return refused(__func__); }
cudaError_t cudaGLMapBufferObject() { return refused(__func__); }
cudaError_t cudaGLMapBufferObjectAsync() { return refused(__func__); }
cudaError_t cudaGLRegisterBufferObject() { return refused(__func__); }
cudaError_t cudaGLSetBufferObjectMapFlags() { return refused(__func__); }
cudaError_t cudaGLSetGLDevice() { return refused(__func__); }
cudaError_t cudaGLUnmapBufferObject() { return refused(__func__); }
cudaError_t cudaGLUnmapBufferObjectAsync() { return refused(__func__); }
cudaError_t cudaGLUnregisterBufferObject() { return refused(__func__); }
cudaError_t cudaGetExportTable() { return refused(__func__); }
cudaError_t cudaGraphAddExternalSemaphoresSignalNode() { return refused(__func__); }
cudaError_t cudaGraphAddExternalSemaphoresWaitNode() { return refused(__func__); }
cudaError_t cudaGraphExecExternalSemaphoresSignalNodeSetParams() { return refused(__func__); }
cudaError_t cudaGraphExecExternalSemaphoresWaitNodeSetParams() { return refused(__func__); }
cudaError_t cudaGraphExternalSemaphoresSignalNodeGetParams() { return refused(__func__); }
cudaError_t cudaGraphExternalSemaphoresSignalNodeSetParams() { return refused(__func__); }
cudaError_t cudaGraphExternalSemaphoresWaitNodeGetParams() { return refused(__func__); }
cudaError_t cudaGraphExternalSemaphoresWaitNodeSetParams() { return refused(__func__); }
cudaError_t cudaGraphicsEGLRegisterImage() { return refused(__func__); }
cudaError_t cudaGraphicsGLRegisterBuffer() { return refused(__func__); }
cudaError_t cudaGraphicsGLRegisterImage() { return refused(__func__); }
cudaError_t cudaGraphicsMapResources() { return refused(__func__); }
cudaError_t cudaGraphicsResourceGetMappedEglFrame() { return refused(__func__); }
cudaError_t cudaGraphicsResourceGetMappedMipmappedArray() { return refused(__func__); }
cudaError_t cudaGraphicsResourceGetMappedPointer() { return refused(__func__); }
cudaError_t cudaGraphicsResourceSetMapFlags() { return refused(__func__); }
cudaError_t cudaGraphicsSubResourceGetMappedArray() { return refused(__func__); }
cudaError_t cudaGraphicsUnmapResources() { return refused(__func__); }
cudaError_t cudaGraphicsUnregisterResource() { return refused(__func__); }
cudaError_t cudaGraphicsVDPAURegisterOutputSurface() { return refused(__func__); }
cudaError_t cudaGraphicsVDPAURegisterVideoSurface() { return refused(__func__); }
cudaError_t cudaImportExternalMemory() { return refused(__func__); }
cudaError_t cudaImportExternalSemaphore() { return refused(__func__); }
cudaError_t cudaIpcGetEventHandle() { return refused(__func__); }
cudaError_t cudaIpcOpenEventHandle() { return refused(__func__); }
cudaError_t cudaLibraryGetUnifiedFunction() { return refused(__func__); }
cudaError_t cudaLogsCurrent() { return refused(__func__); }
cudaError_t cudaLogsDumpToFile() { return refused(__func__); }
cudaError_t cudaLogsDumpToMemory() { return refused(__func__); }
cudaError_t cudaLogsRegisterCallback() { return refused(__func__); }
cudaError_t cudaLogsUnregisterCallback() { return refused(__func__); }
cudaError_t cudaMemPoolExportPointer() { return refused(__func__); }
cudaError_t cudaMemPoolExportToShareableHandle() { return refused(__func__); }
cudaError_t cudaMemPoolImportFromShareableHandle() { return refused(__func__); }
cudaError_t cudaMemPoolImportPointer() { return refused(__func__); }
cudaError_t cudaMemcpy3DBatchAsync() { return refused(__func__); }
cudaError_t cudaMemcpy3DBatchAsync_ptsz() { return refused(__func__); }
cudaError_t cudaMemcpyArrayToArray() { return refused(__func__); }
cudaError_t cudaMemcpyArrayToArray_ptds() { return refused(__func__); }
cudaError_t cudaMipmappedArrayGetMemoryRequirements() { return refused(__func__); }
cudaError_t cudaMipmappedArrayGetSparseProperties() { return refused(__func__); }
cudaError_t cudaSignalExternalSemaphoresAsync() { return refused(__func__); }
cudaError_t cudaSignalExternalSemaphoresAsync_ptsz() { return refused(__func__); }
cudaError_t cudaVDPAUGetDevice() { return refused(__func__); }
cudaError_t cudaVDPAUSetVDPAUDevice() { return refused(__func__); }
cudaError_t cudaWaitExternalSemaphoresAsync() { return refused(__func__); }
cudaError_t cudaWaitExternalSemaphoresAsync_ptsz() { return refused(__func__); }

}  // extern "C"

}  // namespace simt::cudart
