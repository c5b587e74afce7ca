// threadIdx, blockIdx, blockDim, gridDim and warpSize inside a kernel. The scheduler writes the
// first four, as objects of three unsigned ints with these C names, before it resumes a thread.
// They are plain variables: host code may use the names for its own.
#pragma once
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

extern "C" {
extern __thread const simt::BuiltinIndex threadIdx;
extern __thread const simt::BuiltinIndex blockIdx;
extern __thread const simt::BuiltinIndex blockDim;
extern __thread const simt::BuiltinIndex gridDim;
extern const int warpSize;
}
