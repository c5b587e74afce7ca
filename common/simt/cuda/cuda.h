// NVIDIA's header of the driver API. Programs of the runtime include it for CUDA_VERSION or by
// habit: its types are here, its functions say that they are not.
#pragma once
#define __cuda_cuda_h__

#include "cuda_runtime_api.h"

#define CUDA_VERSION CUDART_VERSION

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef enum cudaError_enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_DEINITIALIZED = 4,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_FILE_NOT_FOUND = 301,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_NOT_SUPPORTED = 801,
  CUDA_ERROR_UNKNOWN = 999
} CUresult;

#define SIMT_NO_DRIVER "it has the runtime API only, call the cuda... functions"
#define SIMT_DRIVER(name) SIMT_OUTSIDE(CUresult, name, SIMT_NO_DRIVER)
SIMT_DRIVER(cuInit)
SIMT_DRIVER(cuDriverGetVersion)
SIMT_DRIVER(cuGetErrorName)
SIMT_DRIVER(cuGetErrorString)
SIMT_DRIVER(cuDeviceGet)
SIMT_DRIVER(cuDeviceGetCount)
SIMT_DRIVER(cuDeviceGetName)
SIMT_DRIVER(cuDeviceGetAttribute)
SIMT_DRIVER(cuDeviceComputeCapability)
SIMT_DRIVER(cuDeviceTotalMem)
SIMT_DRIVER(cuDevicePrimaryCtxRetain)
SIMT_DRIVER(cuDevicePrimaryCtxRelease)
SIMT_DRIVER(cuCtxCreate)
SIMT_DRIVER(cuCtxDestroy)
SIMT_DRIVER(cuCtxSetCurrent)
SIMT_DRIVER(cuCtxGetCurrent)
SIMT_DRIVER(cuCtxGetDevice)
SIMT_DRIVER(cuCtxPushCurrent)
SIMT_DRIVER(cuCtxPopCurrent)
SIMT_DRIVER(cuCtxSynchronize)
SIMT_DRIVER(cuModuleLoad)
SIMT_DRIVER(cuModuleLoadData)
SIMT_DRIVER(cuModuleLoadDataEx)
SIMT_DRIVER(cuModuleUnload)
SIMT_DRIVER(cuModuleGetFunction)
SIMT_DRIVER(cuModuleGetGlobal)
SIMT_DRIVER(cuFuncGetAttribute)
SIMT_DRIVER(cuFuncSetAttribute)
SIMT_DRIVER(cuMemAlloc)
SIMT_DRIVER(cuMemAllocManaged)
SIMT_DRIVER(cuMemFree)
SIMT_DRIVER(cuMemGetInfo)
SIMT_DRIVER(cuMemcpy)
SIMT_DRIVER(cuMemcpyHtoD)
SIMT_DRIVER(cuMemcpyDtoH)
SIMT_DRIVER(cuMemcpyDtoD)
SIMT_DRIVER(cuMemcpyHtoDAsync)
SIMT_DRIVER(cuMemcpyDtoHAsync)
SIMT_DRIVER(cuMemsetD8)
SIMT_DRIVER(cuMemsetD32)
SIMT_DRIVER(cuMemAddressReserve)
SIMT_DRIVER(cuMemCreate)
SIMT_DRIVER(cuMemMap)
SIMT_DRIVER(cuPointerGetAttribute)
SIMT_DRIVER(cuStreamCreate)
SIMT_DRIVER(cuStreamDestroy)
SIMT_DRIVER(cuStreamSynchronize)
SIMT_DRIVER(cuEventCreate)
SIMT_DRIVER(cuEventRecord)
SIMT_DRIVER(cuEventSynchronize)
SIMT_DRIVER(cuEventElapsedTime)
SIMT_DRIVER(cuLaunchKernel)
SIMT_DRIVER(cuLaunchKernelEx)
SIMT_DRIVER(cuTensorMapEncodeTiled)
#undef SIMT_DRIVER
#undef SIMT_NO_DRIVER
