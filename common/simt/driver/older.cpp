// Names by which programs of older headers call the driver. Behind the others of this room: what cuda.h makes of these names
// ends here.
#include <cuda.h>

#include "common/simt/driver/calls.hpp"

namespace simt::driver {
namespace {

CUmemLocation place_of(CUdevice device) {
  CUmemLocation place = {};
  place.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  place.id = device == CU_DEVICE_CPU ? 0 : device;
  return place;
}

}  // namespace

#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuDeviceGetUuid
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuGetProcAddress
#undef cuIpcOpenMemHandle
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuLinkCreate
#undef cuMemAdvise
#undef cuMemHostRegister
#undef cuMemPrefetchAsync
#undef cuStreamDestroy

extern "C" {

CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int, unsigned int flags,
                        CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}
CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }
CUresult cuCtxPopCurrent(CUcontext* context) { return cuCtxPopCurrent_v2(context); }
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned int flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char* name, unsigned int count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(state, type, data, bytes, name, count, options, values);
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* name, unsigned int count,
                       CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(state, type, name, count, options, values);
}
CUresult cuLinkCreate(unsigned int count, CUjit_option* options, void** values,
                      CUlinkState* state) {
  return cuLinkCreate_v2(count, options, values, state);
}
CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, place_of(device));
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned int flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device,
                            CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, place_of(device), 0, stream);
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

// With addresses of 32 bits, from before CUDA 3.2: there to be found, and none can be used.
CUresult simt_refuse_32_bits() {
  return answer("cuMemAlloc", [] {
    cudart::explain("32 bits",
                    "a function of the driver with addresses of 32 bits is not in the "
                    "simulator: ask for the one that ends with _v2");
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

}  // extern "C"

}  // namespace simt::driver

asm(".irp name, "
    "cuArray3DCreate, cuArray3DGetDescriptor, cuArrayCreate, cuArrayGetDescriptor, "
    "cuDeviceTotalMem, cuMemAlloc, cuMemAllocHost, cuMemAllocPitch, cuMemFree, "
    "cuMemGetAddressRange, cuMemGetInfo, cuMemHostGetDevicePointer, cuMemcpy2D, cuMemcpy2DAsync, "
    "cuMemcpy2DUnaligned, cuMemcpy3D, cuMemcpy3DAsync, cuMemcpyAtoA, cuMemcpyAtoD, cuMemcpyAtoH, "
    "cuMemcpyAtoHAsync, cuMemcpyDtoA, cuMemcpyDtoD, cuMemcpyDtoDAsync, cuMemcpyDtoH, "
    "cuMemcpyDtoHAsync, cuMemcpyHtoA, cuMemcpyHtoAAsync, cuMemcpyHtoD, cuMemcpyHtoDAsync, "
    "cuMemsetD16, cuMemsetD2D16, cuMemsetD2D32, cuMemsetD2D8, cuMemsetD32, cuMemsetD8, "
    "cuModuleGetGlobal, cuTexRefGetAddress, cuTexRefSetAddress, cuTexRefSetAddress2D, "
    "cuGraphicsResourceGetMappedPointer, cuGraphicsResourceSetMapFlags\n"
    ".globl \\name\n"
    ".type \\name, @function\n"
    ".set \\name, simt_refuse_32_bits\n"
    ".endr\n");
