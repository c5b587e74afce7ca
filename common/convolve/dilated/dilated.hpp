// Dilated layers by a kernel for plain ones: what dilated.cu makes of them, as a variant and a contender.
#pragma once

#include <functional>
#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// The variant for a plain layer, in fp32 on NCHW maps; it stays.
using PlainVariant = std::function<const Conv2dVariant&(const conv::ConvLayer&)>;

/// By the kernel that `plain` names for what the layer becomes.
Conv2dVariant dilated(const PlainVariant& plain);
std::vector<Contender> dilated_contenders();

}  // namespace halo::convolve
