// The 1D family: signals and masks.
//
// The contract of all 1D stages: cross-correlation of the same size, odd mask, cells beyond the
// ends are zero, every output of [first, last) written and no other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/conv/conv1d.hpp"
#include "common/harness/core/typed.hpp"
#include "common/harness/kernel.h"

namespace halo {

// A problem with the threads that it is computed by: what a prediction needs, and what a row shows.
struct Conv1dProblem : Conv1dShape {
  Conv1dProblem(const conv::Problem1d& given, int threads);
  // Throws std::invalid_argument as conv::Problem1d.
  Conv1dProblem(int length, int mask_width, int threads, conv::Border border = conv::Border::zero);

  conv::Problem1d problem;
};
std::string label(const Conv1dProblem& problem);
// A problem's sizes, in the letters of tiles.
inline TileSizes sizes_of(const Conv1dProblem& problem) { return {.cells = problem.length}; }

template <>
struct CallOf<Conv1dProblem> {
  using Type = Conv1dCall;
};
using Conv1dVariant = Variant<Conv1dProblem>;
using Conv1dStage = Stage<Conv1dProblem>;

// Adds the variant that a kernel's file describes.
void add(Conv1dStage& stage, const char* name, const char* source, const Conv1dKernel& kernel);

template <>
std::vector<Conv1dProblem> adversarial(std::uint64_t seed);

// A signal and a mask that somebody gave: a recording's channel.
DatasetPtr conv1d_data(const Conv1dProblem& problem, std::vector<float> input,
                       std::vector<float> mask);

// For Variant::refuses(): wider masks, or more products (length x mask width), and why not.
using RefusesSignal = std::function<std::string(const Conv1dProblem&)>;
RefusesSignal up_to_taps(int widest_mask);
RefusesSignal up_to_products(std::int64_t most, std::string reason);

}  // namespace halo
