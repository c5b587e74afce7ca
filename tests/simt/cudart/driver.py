"""A program that loads the driver by its name, as Python's packages do: adds 1 to each element, with PTX of its own."""
import ctypes
import sys

PTX = b"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry plus_one(.param .u64 data) {
  .reg .b64 %d, %o; .reg .b32 %t, %v;
  ld.param.u64 %d, [data];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %o, %t, 4;
  add.u64 %d, %d, %o;
  ld.global.u32 %v, [%d];
  add.u32 %v, %v, 1;
  st.global.u32 [%d], %v;
  ret;
}
"""


def main():
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        result = getattr(cuda, name)(*arguments)
        assert result == 0, (name, result)

    context, module, function, data = (ctypes.c_void_p() for _ in range(4))
    call("cuInit", 0)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, 0)
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"plus_one")
    values = (ctypes.c_uint * 8)(*range(8))
    call("cuMemAlloc_v2", ctypes.byref(data), ctypes.c_size_t(32))
    call("cuMemcpyHtoD_v2", data, values, ctypes.c_size_t(32))
    threads = int(sys.argv[1])
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(data))
    call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, arguments, None)
    if threads == 8:
        call("cuMemcpyDtoH_v2", values, data, ctypes.c_size_t(32))
        print(list(values))
        # As packages that ask for the functions of all versions do: what they then call means what it did then.
        device = ctypes.c_int(-1)
        for version, more in ((2000, ()), (13000, (None,))):
            address = ctypes.c_void_p()
            call("cuGetProcAddress_v2", b"cuCtxGetDevice", ctypes.byref(address), version, ctypes.c_uint64(0), None)
            assert ctypes.CFUNCTYPE(ctypes.c_int)(address.value)(ctypes.byref(device), *more) == 0
        status = ctypes.c_int(-1)
        call("cuGetProcAddress_v2", b"cuOfTomorrow", ctypes.byref(address), 99000, ctypes.c_uint64(0), ctypes.byref(status))
        assert not address.value and status.value == 1
        # NVIDIA's makes machine code; without it the driver is asked.
        assert not hasattr(ctypes.CDLL("libnvJitLink.so.13"), "nvJitLinkCreate")
        call("cuCtxAttach", ctypes.byref(context), 0)
        event, its = ctypes.c_void_p(), ctypes.c_void_p()
        call("cuEventCreate", ctypes.byref(event), 0)
        call("cuEventRecord", event, None)
        call("cuPointerGetAttribute", ctypes.byref(its), 1, data)
        assert its.value == context.value
        # What was made in a context says so: none need be current.
        call("cuCtxPopCurrent_v2", None)
        call("cuEventSynchronize", event)
        call("cuModuleGetFunction", ctypes.byref(function), module, b"plus_one")
        call("cuMemFree_v2", data)
        call("cuCtxPushCurrent_v2", context)
        stream, policy = ctypes.c_void_p(), (ctypes.c_int * 16)(3)
        call("cuStreamCreate", ctypes.byref(stream), 0)
        call("cuStreamSetAttribute", stream, 3, policy)
        policy[0] = 0
        call("cuStreamGetAttribute", stream, 3, policy)
        assert policy[0] == 3
        call("cuCtxSetCacheConfig", 2)
        call("cuCtxGetCacheConfig", ctypes.byref(device))
        assert device.value == 2
        call("cuCtxDetach", context)
        call("cuCtxSynchronize")
        call("cuCtxDetach", context)
        assert cuda.cuCtxSynchronize() != 0


main()
