// Kernels that are right and move the bytes that they should, and cost more all the same.
#pragma once

#include <cuda_runtime.h>

namespace halo::planted {

enum class Waste {
  none,
  one_block,      // which goes round; the other multiprocessors stay idle
  shared_memory,  // 48 KB that nobody uses: an SM has room for few blocks
  doubles,        // the sum by accident in double precision
  leak,           // 256 bytes a call
  tensor_cores,   // an mma of each warp, for nothing
};

// As planted.hpp.
cudaError_t wasteful(Waste waste, const float* input, const float* mask, float* output, int n,
                     int width, int first, int last, int threads);

}  // namespace halo::planted
