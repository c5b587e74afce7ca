// What both peers of cuFFT ask of it. Private to the peers.
#pragma once

#include <cufft.h>

#include <string>

namespace halo::peers {

/// "cuFFT 12.0.0".
std::string cufft_version();

/// The CUDA error code that says it best.
int fft_code(cufftResult result);

}  // namespace halo::peers
