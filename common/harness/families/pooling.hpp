// The family of pooling layers. Input and output are in the variant's layout.
#pragma once

#include <cstdint>
#include <vector>

#include "common/conv/pooling.hpp"
#include "common/harness/core/typed.hpp"
#include "common/harness/kernel.h"

namespace halo {

using PoolingVariant = Variant<conv::PoolingLayer>;
using PoolingStage = Stage<conv::PoolingLayer>;

// A layer's numbers as a kernel takes them.
LayerNumbers numbers_of(const conv::PoolingLayer& layer);
// A problem's sizes, in the letters of tiles.
inline TileSizes sizes_of(const conv::PoolingLayer& l) {
  return {l.N(), l.C(), 0, l.P(), l.Q(), static_cast<int>(l.output_size())};
}

// Adds the variant that a kernel's file describes.
void add(PoolingStage& stage, const char* name, const char* source, const PoolingKernel& kernel);

template <>
std::vector<conv::PoolingLayer> adversarial(std::uint64_t seed);

}  // namespace halo
