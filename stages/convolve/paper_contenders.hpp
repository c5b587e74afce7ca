// The papers' kernels, which a layer's is chosen among too.
#pragma once

#include <vector>

#include "common/convolve/choice.hpp"

namespace halo::convolve {

/// The course's own kernels as the papers have them: filter_group of stage 06, which takes nearly every
/// layer; stride_fixed_32 and stride_fixed_64 of stage 08; two_stage of stage 09.
std::vector<Contender> paper_contenders();

/// library(products), and these.
const Contenders& with_papers(Products products);

}  // namespace halo::convolve
