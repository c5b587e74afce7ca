// Any layer as one matrix product: what implicit_gemm.cu runs, as variants that stages show and contenders that the dispatcher
// chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With the plan that the model finds fastest.
Conv2dVariant implicit_gemm();
/// The same of filters of 1 x 1 that it reads as they are: for who would pack them for each call.
Conv2dVariant unpacked_gemm();
/// With each plan, whatever the layer; after them unpacked_gemm. All of these are contenders.
std::vector<Conv2dVariant> implicit_gemm_of_each_plan();
std::vector<Contender> implicit_gemm_contenders();

}  // namespace halo::convolve
