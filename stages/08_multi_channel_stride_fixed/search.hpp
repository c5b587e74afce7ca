// The pairs of W'x and M' that stage 08 can search.
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::multi_channel_stride_fixed {

// The block method with every W'x of 32, 64, 128 and 256 and every M' of 16, 32, 64 and 128 that a
// block of 1,024 threads can hold, for S = 32 or 64 bytes (else std::invalid_argument): to look for
// the pair that the paper found best, and whose numbers are lost. They are named
// stride_fixed_32_w128_m64, and are the stage's `searched` variants.
std::vector<Conv2dVariant> search(int segment_bytes);

}  // namespace halo::multi_channel_stride_fixed
