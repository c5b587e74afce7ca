#include "common/convolve/measuring.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "common/conv/inputs.hpp"
#include "common/harness/core/candidates.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr double kHopeless = 4;
constexpr double kLaunchUs = 10;  // that a single call may take beside its kernel
constexpr double kRoundUs = 500;

}  // namespace

Measuring::Measuring(Backend& backend) : backend_(backend), values_(std::size_t{1} << 20) {
  conv::Random random(7);
  for (float& value : values_) {
    value = static_cast<float>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
  }
}

std::optional<double> Measuring::time(const Conv2dVariant& measured, const ConvLayer& layer,
                                      double best, Calls calls) {
  const auto variant = measured.prepared(layer);
  const std::int64_t packed = variant.packed_floats, workspace = variant.workspace_floats;
  const std::int64_t all =
      layer.input_size() + layer.filters_size() + layer.output_size() + packed + workspace;
  if (!too_large_for_memory("it", 0, 4 * all, backend_).empty()) return {};
  Conv2dCall call{layer, at_least(input_, layer.input_size()),
                  at_least(filters_, layer.filters_size()), at_least(output_, layer.output_size()),
                  at_least(workspace_, workspace)};
  call.overlaps = calls == Calls::overlapping && measured.can_overlap;
  if (packed > 0) {
    float* const to = at_least(packed_, packed);
    require([&] { return variant.pack(call.filters, to); });
    call.packed = to;
  }
  const auto launch = [&](int) {
    const bool packs = calls == Calls::packing && packed > 0;
    const int error = packs ? variant.pack(call.filters, packed_->data()) : 0;
    return error != 0 ? error : variant.launch(call);
  };
  require([&] { return launch(0); });
  const double once = backend_.batch(launch, 1)->run() * 1e3;
  if (once > kHopeless * best + kLaunchUs) return once;
  const int many = std::clamp(static_cast<int>(kRoundUs / std::max(once, 1.0)), 1, 200);
  const std::unique_ptr<Batch> batch = backend_.batch(launch, many);
  batch->run();
  std::vector<double> rounds;
  for (int i = 0; i < kRounds; ++i) rounds.push_back(batch->run() * 1e3 / many);
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

void Measuring::start_again() {
  for (auto* array : {&input_, &filters_, &output_, &workspace_, &packed_}) array->reset();
  backend_.recover();
}

void Measuring::require(const std::function<int()>& launch) {
  const Observation seen = backend_.run(launch);
  if (!seen.error.empty()) throw std::runtime_error(seen.error);
}

float* Measuring::at_least(std::unique_ptr<Array>& array, std::int64_t floats) {
  if (floats == 0) return nullptr;
  const auto wanted = static_cast<std::size_t>(floats);
  if (!array || array->size() < wanted) {
    array.reset();
    array = std::make_unique<Array>(backend_, wanted);
    for (std::size_t at = 0; at < wanted; at += values_.size()) {
      array->write(std::span(values_).first(std::min(values_.size(), wanted - at)), at);
    }
  }
  return array->data();
}

}  // namespace halo::convolve
