// The family of layout transforms: CHWN to NCHW and back.
#pragma once

#include <cstdint>
#include <vector>

#include "common/conv/layout.hpp"
#include "common/harness/core/typed.hpp"
#include "common/harness/kernel.h"

namespace halo {

using TransformVariant = Variant<conv::Transform>;
using TransformStage = Stage<conv::Transform>;

// A problem's sizes, in the letters of tiles.
inline TileSizes sizes_of(const conv::Transform& transform) {
  const conv::Images& images = transform.images();
  return {.N = images.N(), .cells = images.C() * images.H() * images.W()};
}

// Adds the variant that a kernel's file describes.
void add(TransformStage& stage, const char* name, const char* source,
         const TransformKernel& kernel);

template <>
std::vector<conv::Transform> adversarial(std::uint64_t seed);

}  // namespace halo
