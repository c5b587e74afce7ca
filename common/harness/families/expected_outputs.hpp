// What outputs are to be, one by one: of data with infinities and NaN among them, of which kernel.h says what our
// kernels make, and of data too large to be computed as a whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/conv1d.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/layout.hpp"
#include "common/harness/core/problem.hpp"

namespace halo {

// The largest problems that are tried with such data, in products: they show nothing more on large ones.
inline constexpr std::int64_t kMostSpecialProducts = 4000;

// NaN and both infinities in the place of some of the values, at least one.
inline void strew(std::vector<float>& values, std::uint64_t one_of, std::uint64_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {kInfinity, std::numeric_limits<float>::quiet_NaN(), -kInfinity};
  conv::Random random(seed);
  std::size_t next = random.below(3);
  for (float& value : values) {
    if (random.below(one_of) == 0) value = kSpecial[next++ % 3];
  }
  values[random.below(values.size())] = kSpecial[next % 3];
}

// Whether a reference takes them.
inline bool all_finite(const Dataset& data) {
  for (const InputValues& input : data.inputs()) {
    for (const float value : input.values) {
      if (!std::isfinite(value)) return false;
    }
  }
  return true;
}

// What one output is to be.
struct ExpectedOutput {
  double value = 0;
  double bound = 0;         // where the value is finite
  bool may_be_nan = false;  // it may also be NaN, where the variant says so
  bool untouched = false;   // it is not computed
};

inline void judge_expected(std::int64_t index, std::span<const float> found,
                           const ExpectedOutput& expected, conv::Comparison& comparison) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const auto value = static_cast<float>(expected.value);
  if (expected.untouched) {
    comparison.judge_untouched(index, found.front());
  } else if (expected.may_be_nan && std::isnan(found.front())) {
    comparison.judge_equal_run(index, found, &kNaN);
  } else if (std::isfinite(expected.value)) {
    comparison.judge(index, found.front(), expected.value, expected.bound);
  } else {
    comparison.judge_equal_run(index, found, &value);
  }
}

class ExpectedData final : public Dataset {
 public:
  // An array from NCHW to another layout.
  using Arrange =
      std::function<std::vector<float>(const std::vector<float>& values, conv::Layout layout)>;

  // `expected`: of each output, in NCHW. Without `input` and `output` there is no other layout. `exact`: as
  // Dataset; there are no bounds then.
  ExpectedData(std::vector<InputValues> inputs, std::vector<ExpectedOutput> expected,
               Arrange input = {}, Arrange output = {}, bool exact = false)
      : Dataset(std::move(inputs), exact),
        expected_(std::move(expected)),
        input_(std::move(input)),
        output_(std::move(output)) {}

  Judge judge(conv::Layout layout, conv::Demand) const override {
    // Where each output of the layout is in `expected`.
    std::vector<float> places(expected_.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<float>(i);
    if (layout != conv::Layout::nchw) places = output_(places, layout);
    return [this, places](std::int64_t first, std::span<const float> cells) {
      conv::Comparison comparison;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        judge_expected(index, cells.subspan(i, 1),
                       expected_[static_cast<std::size_t>(places[static_cast<std::size_t>(index)])],
                       comparison);
      }
      return comparison;
    };
  }

 protected:
  std::vector<float> arrange(conv::Layout layout) const override {
    return input_(inputs().front().values, layout);
  }

 private:
  std::vector<ExpectedOutput> expected_;
  Arrange input_;
  Arrange output_;
};

// The cell of that place in an array of the layout: conv::index_of the other way round.
struct Place {
  std::int64_t n, c, h, w;
};
inline Place place_of(const conv::ImagesShape& shape, conv::Layout layout, std::int64_t index) {
  const bool nchw = layout == conv::Layout::nchw;
  const std::int64_t cells = shape.C * shape.H * shape.W;
  const std::int64_t n = nchw ? index / cells : index % shape.N;
  const std::int64_t cell = nchw ? index % cells : index / shape.N;
  return {n, cell / shape.W / shape.H, cell / shape.W % shape.H, cell % shape.W};
}

// An array of so many ordinary numbers, of which there are kSparsePeriod at most.
inline InputValues sparse_values(const std::string& name, std::int64_t size, std::uint64_t seed) {
  const conv::Problem1d held(std::min(size, kSparsePeriod), 1);
  return {name, conv::adversarial_input(held, seed, 0), size};
}

// DataKind::Of::sparse.
class SparseData final : public Dataset {
 public:
  // What the output with that place in an array of the layout is to be.
  using ExpectedOf = std::function<ExpectedOutput(const SparseData& data, conv::Layout layout,
                                                  std::int64_t index)>;

  SparseData(std::vector<InputValues> inputs, ExpectedOf expected_of)
      : Dataset(std::move(inputs)), expected_of_(std::move(expected_of)) {}

  float operator()(std::size_t input, std::int64_t index) const {
    const std::vector<float>& values = inputs()[input].values;
    return values[static_cast<std::size_t>(index) % values.size()];
  }
  Judge judge(conv::Layout layout, conv::Demand) const override {
    return [this, layout](std::int64_t first, std::span<const float> cells) {
      conv::Comparison comparison;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        judge_expected(index, cells.subspan(i, 1), expected_of_(*this, layout, index), comparison);
      }
      return comparison;
    };
  }

 private:
  ExpectedOf expected_of_;
};

}  // namespace halo
