// The dispatcher as a stage: its variants stand beside those that they choose among.
#pragma once

#include "common/harness/families/conv2d.hpp"
#include "stages/convolve/contenders.hpp"

namespace halo::convolve {

/// `convolve`; or `convolve_split`, which may choose kernels on tensor cores.
Conv2dVariant variant(Products products = Products::fp32);
/// The second only if there are such kernels. With --plan, which says why.
Conv2dStage stage();

}  // namespace halo::convolve
