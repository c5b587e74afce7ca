// Behind cudaStreamCreate and its kin.
#pragma once

#include <cuda_runtime_api.h>

namespace simt {

cudaError_t create_stream(cudaStream_t* stream, unsigned int flags, int priority);  // api.cpp

}  // namespace simt
