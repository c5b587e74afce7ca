#include "common/peers/true_fp32.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/conv/inputs.hpp"

namespace halo::peers {

namespace {

constexpr std::int64_t kMostOutputs = 1024;

// Drawn once: larger arrays repeat them, after a prime number of values, so that neither rows nor
// channels nor filters are alike.
std::vector<float> draw(std::uint64_t seed) {
  conv::Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(conv::kPeriod));
  for (float& value : values) {
    const std::uint64_t bits = random.bits();
    std::int64_t sum = -2 * 65535;
    for (int part = 0; part < 4; ++part)
      sum += static_cast<std::int64_t>(bits >> 16 * part & 65535);
    value = static_cast<float>(sum) * 0x1p-16f;
  }
  return values;
}

std::vector<float> repeated(const std::vector<float>& values, std::int64_t count) {
  std::vector<float> result(static_cast<std::size_t>(count));
  for (std::size_t done = 0; done < result.size();) {
    const std::size_t part = std::min(values.size(), result.size() - done);
    std::copy_n(values.begin(), part, result.begin() + static_cast<std::ptrdiff_t>(done));
    done += part;
  }
  return result;
}

}  // namespace

bool tf32_is_asked_for() {
  const char* const asked = std::getenv("HALO_CUDNN_TF32");
  return asked != nullptr && std::string_view(asked) == "1";
}

void forbid_tf32() {
  if (!tf32_is_asked_for()) setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
}

Fp32Sample::Fp32Sample(const conv::ConvLayer& layer) {
  static const std::vector<float> cells = draw(1);
  static const std::vector<float> taps = draw(2);
  const conv::ConvLayer one = layer.with_batch(1);
  image_ = repeated(cells, one.input_size());
  filters_ = repeated(taps, one.filters_size());
  const std::int64_t outputs = layer.output_size();
  if (outputs > kMostOutputs) {
    // Times the golden ratio: a multiple of a plane, which many sizes are, would go along one row.
    step_ = static_cast<std::int64_t>(1.618 * static_cast<double>(outputs) / kMostOutputs) + 1;
    while (std::gcd(step_, outputs) != 1) ++step_;
  }
  for (std::int64_t at = 0; at < outputs; at += step_) {
    expected_.push_back(
        conv::output_reference(one, image_, filters_, at % one.output_size()).value);
  }
}

double Fp32Sample::relative_error(std::span<const float> found, bool relu) const {
  if (found.size() != expected_.size()) {
    throw std::invalid_argument("the sample has " + std::to_string(expected_.size()) +
                                " outputs, got " + std::to_string(found.size()));
  }
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const double expected = relu ? std::max(expected_[i], 0.0) : expected_[i];
    error += (found[i] - expected) * (found[i] - expected);
    norm += expected * expected;
  }
  if (norm > 0) return std::sqrt(error / norm);
  return error == 0 ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace halo::peers
