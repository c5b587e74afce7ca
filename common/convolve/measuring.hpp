// How long a contender takes for a layer, on random numbers. What it computes is not looked at: its stage's trials do that.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/convolve/rule.hpp"
#include "common/harness/backend/backend.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

class Measuring {
 public:
  static constexpr int kRounds = 5;

  /// On a backend that has times.
  explicit Measuring(Backend& backend);

  /// Microseconds of a call, the median of kRounds; nothing if memory does not hold the layer. Four times `best`, the best
  /// so far on this layer, is hopeless: then one call says enough. Throws
  /// std::runtime_error, in one line, if a call fails.
  std::optional<double> time(const Conv2dVariant& variant, const conv::ConvLayer& layer,
                             double best, Calls calls = Calls::packed);
  /// After such a failure, in a program of ours: the device is reset.
  void start_again();

 private:
  void require(const std::function<int()>& launch);
  // Grown where it is too small: the largest layer's does for the others.
  float* at_least(std::unique_ptr<Array>& array, std::int64_t floats);

  Backend& backend_;
  std::vector<float> values_;
  std::unique_ptr<Array> input_, filters_, output_, workspace_, packed_;
};

}  // namespace halo::convolve
