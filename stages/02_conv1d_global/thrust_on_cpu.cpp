// 3_thrust.cu for a machine with no GPU: Thrust's device system is then plain C++, and a host
// compiler is enough. (The CUDA build compiles 3_thrust.cu itself.)
#ifndef HALO_NO_THRUST
#include <cuda_runtime.h>  // CUDA's Thrust includes it, Debian's does not

#include "stages/02_conv1d_global/3_thrust.cu"
#else
#include "common/harness/kernel.h"

namespace halo::conv1d_global {

Conv1dKernel thrust() {
  return {.description = "one function object an output, the kernel is Thrust's",
          .launch = nullptr,
          .unavailable = HALO_NO_THRUST};
}

}  // namespace halo::conv1d_global
#endif
