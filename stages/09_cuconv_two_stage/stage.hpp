// What stage 09 gives to its program, its tests and the network: its variants.
#pragma once

#include "common/harness/families/conv2d.hpp"
#include "common/planning/two_stage_division.hpp"

namespace halo::cuconv_two_stage {

// The temporaries of a call take at most `cap` bytes.
Conv2dStage stage(std::int64_t cap = kTemporariesCap);

}  // namespace halo::cuconv_two_stage
