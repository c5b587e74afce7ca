// Functions of CUDA's runtime that are not here. Whoever links one finds it, and is told when it is called. All return an
// error and take what they like: so their own declarations are not included.
#include "common/simt/cudart/calls.hpp"

namespace simt::cudart {

extern "C" {

#define SIMT_REFUSED(name) \
  cudaError_t name() { return refused(__func__); }
#define SIMT_PER_THREAD(name, its, parameters, arguments)
#include "common/simt/cudart/runtime_declared.inc"
#undef SIMT_PER_THREAD
// No header declares it.
SIMT_REFUSED(__cudaGetProcAddress)
#undef SIMT_REFUSED

}  // extern "C"

}  // namespace simt::cudart
