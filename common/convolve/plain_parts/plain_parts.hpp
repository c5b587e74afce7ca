// Layers with groups or dilation by a kernel for plain ones: what plain_parts.cu makes of them, as a variant and a contender.
#pragma once

#include <functional>
#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// The variant for a plain layer, in fp32 on NCHW maps; it stays.
using PlainVariant = std::function<const Conv2dVariant&(const conv::ConvLayer&)>;

/// By the kernel that `plain` names for what a group becomes.
Conv2dVariant plain_parts(const PlainVariant& plain);
std::vector<Contender> plain_parts_contenders();

}  // namespace halo::convolve
