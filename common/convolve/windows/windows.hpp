// Layers of few channels, windows in registers: what windows.cu runs, as variants that stages show and contenders that the
// dispatcher chooses among.
#pragma once

#include <vector>

#include "common/convolve/contender.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// One channel: the stores are nearly all its traffic.
Conv2dVariant store_bound();
/// Two to four channels.
Conv2dVariant few_channels();

/// Both.
std::vector<Contender> window_contenders();

}  // namespace halo::convolve
