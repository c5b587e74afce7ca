// The texts of common/data/rules, as the build compiled them in: which of our kernels is fastest on which
// layer, measured on a GPU each. common/convolve/rule.hpp reads them.
#pragma once

#include <span>
#include <string_view>

namespace halo::data {

/// One for each file of common/data/rules, in the order of the build description.
std::span<const std::string_view> convolution_rules();

}  // namespace halo::data
