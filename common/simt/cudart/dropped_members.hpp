// Members of cudaDeviceProp that CUDA 13 dropped. simcc declares them, in this order, at the beginning of what the
// structure reserves: its size stays NVIDIA's. Our libcudart fills them.
#pragma once

#include <driver_types.h>

namespace simt {

struct DroppedMember {
  const char* name;
  cudaDeviceAttr attribute;
};
inline constexpr DroppedMember kDroppedMembers[] = {
    {"clockRate", cudaDevAttrClockRate},
    {"deviceOverlap", cudaDevAttrGpuOverlap},
    {"kernelExecTimeoutEnabled", cudaDevAttrKernelExecTimeout},
    {"computeMode", cudaDevAttrComputeMode},
    {"memoryClockRate", cudaDevAttrMemoryClockRate},
    {"singleToDoublePrecisionPerfRatio", cudaDevAttrSingleToDoublePrecisionPerfRatio},
};

}  // namespace simt
