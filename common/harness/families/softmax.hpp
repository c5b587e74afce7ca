// The family of softmax layers.
#pragma once

#include <cstdint>
#include <vector>

#include "common/conv/softmax.hpp"
#include "common/harness/core/typed.hpp"
#include "common/harness/kernel.h"

namespace halo {

using SoftmaxVariant = Variant<conv::Softmax>;
using SoftmaxStage = Stage<conv::Softmax>;

// A problem's sizes, in the letters of tiles.
inline TileSizes sizes_of(const conv::Softmax& problem) {
  return {.N = problem.N(), .C = problem.C()};
}

// Adds the variant that a kernel's file describes.
void add(SoftmaxStage& stage, const char* name, const char* source, const SoftmaxKernel& kernel);

template <>
std::vector<conv::Softmax> adversarial(std::uint64_t seed);

}  // namespace halo
