// Groups, depthwise layers and dilation: what grouped.cu runs, as a variant that stages show and a contender that the
// dispatcher chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the shape that its plan chooses.
Conv2dVariant grouped();
/// With each shape, for the layers that allow it.
std::vector<Conv2dVariant> grouped_of_each_shape();
std::vector<Contender> grouped_contenders();

}  // namespace halo::convolve
