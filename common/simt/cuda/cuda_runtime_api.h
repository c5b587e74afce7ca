// The functions of the CUDA runtime that the simulator has (../runtime/api.cpp), and sentences for
// the ones it has not.
//
// Everything is done by the time a call returns: streams and events only keep their order. The time
// between two events is the host's clock, so it is the simulator's time and never a GPU's.
#pragma once
#define __CUDA_RUNTIME_API_H__

#include "driver_types.h"
#include "math_functions.h"

extern "C" {

// ---- errors ----
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// ---- the device: one, the model that SIMT_GPU names ----
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
cudaError_t cudaGetDeviceFlags(unsigned int* flags);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
// Frees all device memory and forgets a sticky error, so that one process can run on.
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaProfilerStart();
cudaError_t cudaProfilerStop();

// ---- memory ----
cudaError_t cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height);
// Managed memory is device memory that the host may touch. It counts as initialised from the start,
// because the host's writes are not seen.
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes,
                              unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned int flags);
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned int flags);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned int flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t bytes,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);

// ---- streams and events ----
cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* user_data, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr,
                                     unsigned int flags = 0);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);

}  // extern "C"

// Of these two there are C and C++ forms.
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags);

// ---- kernels and symbols, by address; cuda_runtime.h has the forms that take them by name ----
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel);
cudaError_t cudaFuncSetCacheConfig(const void* kernel, cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, cudaSharedMemConfig config);
// As NVIDIA's calculator, except that registers, which the simulator does not know, never limit.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                          int block_size,
                                                          std::size_t dynamic_shared_bytes);

// ---- outside the subset ----
#define SIMT_NO_GRAPHS "it runs launches one by one, so leave graphs to the GPU build"
SIMT_OUTSIDE(cudaError_t, cudaStreamBeginCapture, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaStreamEndCapture, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphCreate, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphInstantiate, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphLaunch, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphDestroy, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphExecDestroy, SIMT_NO_GRAPHS)
SIMT_OUTSIDE(cudaError_t, cudaGraphAddKernelNode, SIMT_NO_GRAPHS)
#undef SIMT_NO_GRAPHS
#define SIMT_USE_CHEVRONS "launch with kernel<<<grid, block>>>(arguments)"
SIMT_OUTSIDE(cudaError_t, cudaLaunchKernel, SIMT_USE_CHEVRONS)
SIMT_OUTSIDE(cudaError_t, cudaLaunchCooperativeKernel,
             "it has no grid-wide barrier, so end the kernel and launch the next")
#undef SIMT_USE_CHEVRONS
#define SIMT_NO_TEXTURES "it has no textures and CUDA arrays, so use cudaMalloc and __ldg"
SIMT_OUTSIDE(cudaError_t, cudaCreateTextureObject, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaDestroyTextureObject, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaCreateSurfaceObject, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaDestroySurfaceObject, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaBindTexture, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaUnbindTexture, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaMallocArray, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaFreeArray, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaMemcpyToArray, SIMT_NO_TEXTURES)
SIMT_OUTSIDE(cudaError_t, cudaMemcpy2DToArray, SIMT_NO_TEXTURES)
#undef SIMT_NO_TEXTURES
#define SIMT_NO_3D "use cudaMalloc with width * height * depth, or cudaMallocPitch"
SIMT_OUTSIDE(cudaError_t, cudaMalloc3D, SIMT_NO_3D)
SIMT_OUTSIDE(cudaError_t, cudaMalloc3DArray, SIMT_NO_3D)
SIMT_OUTSIDE(cudaError_t, cudaMemcpy3D, SIMT_NO_3D)
SIMT_OUTSIDE(cudaError_t, cudaMemset3D, SIMT_NO_3D)
#undef SIMT_NO_3D
#define SIMT_ONE_DEVICE "it has one device"
SIMT_OUTSIDE(cudaError_t, cudaMemcpyPeer, SIMT_ONE_DEVICE)
SIMT_OUTSIDE(cudaError_t, cudaMemcpyPeerAsync, SIMT_ONE_DEVICE)
SIMT_OUTSIDE(cudaError_t, cudaDeviceEnablePeerAccess, SIMT_ONE_DEVICE)
SIMT_OUTSIDE(cudaError_t, cudaIpcGetMemHandle, SIMT_ONE_DEVICE)
#undef SIMT_ONE_DEVICE
SIMT_OUTSIDE(cudaError_t, cudaDeviceGetDefaultMemPool, "its cudaMallocAsync has no pools to tune")
SIMT_OUTSIDE(cudaError_t, cudaDeviceGetMemPool, "its cudaMallocAsync has no pools to tune")
SIMT_OUTSIDE(cudaError_t, cudaMemPoolCreate, "its cudaMallocAsync has no pools to tune")
SIMT_OUTSIDE(cudaError_t, cudaMemPoolSetAttribute, "its cudaMallocAsync has no pools to tune")
SIMT_OUTSIDE(cudaError_t, cudaThreadSynchronize, "CUDA dropped it, call cudaDeviceSynchronize()")
SIMT_OUTSIDE(cudaError_t, cudaThreadExit, "CUDA dropped it, call cudaDeviceReset()")
