// Any layer as one matrix product: what implicit_gemm.cu runs, as variants that stages show and contenders that the dispatcher
// chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the plan that the model finds fastest.
Conv2dVariant implicit_gemm();
/// With each plan, whatever the layer, and these as contenders.
std::vector<Conv2dVariant> implicit_gemm_of_each_plan();
std::vector<Contender> implicit_gemm_contenders();

}  // namespace halo::convolve
