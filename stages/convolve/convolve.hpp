// The dispatcher as a stage: its variants stand beside those that they choose among.
#pragma once

#include "common/harness/families/conv2d.hpp"
#include "stages/convolve/paper_contenders.hpp"

namespace halo::convolve {

/// `convolve`; or `convolve_split`, which may choose kernels on tensor cores.
/// With an epilogue: among those that have it, if any of them takes the layer. Where each call packs its name ends with
/// `_packing`, where calls overlap with `_overlapping`, with Choice::measured with `_measured`.
Conv2dVariant variant(Products products = Products::fp32, Epilogue epilogue = Epilogue::none,
                      Choice choice = Choice::rule, Calls calls = Calls::packed);
/// The second only if there are such kernels. With --plan, which says why; with --search also `convolve_measured`.
Conv2dStage stage();

}  // namespace halo::convolve
