// What the kernels of stage 10's convolutions must cost: how a launch divides a layer, and what the
// simulator must count for it.
#pragma once

#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"
#include "common/simt/simt.hpp"

namespace halo::layout_convolution {

enum class Across { images, pixels };

/// What a launch does, from the layer's numbers alone.
struct Division {
  int columns, filters;  // of a thread
  std::int64_t column_groups, filter_groups;
};
Division divide(const conv::ConvLayer& layer, Across across);

simt::Counters predict(const conv::ConvLayer& layer, Across across, conv::Layout layout);

}  // namespace halo::layout_convolution
