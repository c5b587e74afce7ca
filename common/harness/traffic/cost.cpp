#include "common/harness/traffic/cost.hpp"

#include <algorithm>
#include <tuple>

namespace halo {

namespace {

auto shape_of(const LaunchFigures& alike) {
  return std::tuple(alike.blocks, alike.threads, alike.shared_bytes);
}

}  // namespace

void Cost::add(const LaunchFigures& alike) {
  if (alike.launches == 0 || alike.blocks == 0) return;
  const auto place =
      std::lower_bound(launches.begin(), launches.end(), alike,
                       [](const auto& a, const auto& b) { return shape_of(a) < shape_of(b); });
  if (place != launches.end() && shape_of(*place) == shape_of(alike)) {
    place->launches += alike.launches;
  } else {
    launches.insert(place, alike);
  }
}

void Cost::add(const Cost& other, std::uint64_t times) {
  for (const simt::CounterField& field : simt::counter_fields()) {
    this->*field.member += times * other.*field.member;
  }
  for (LaunchFigures alike : other.launches) {
    alike.launches *= times;
    add(alike);
  }
  fp64_operations += times * other.fp64_operations;
  tensor_instructions += times * other.tensor_instructions;
  this->other += other.other;  // nobody predicts it
  unfreed_bytes += times * other.unfreed_bytes;
  copied_bytes += times * other.copied_bytes;
}

bool as_predicted(const Cost& counted, const Cost& predicted) {
  if (predicted.launches.empty()) return counted.counters() == predicted.counters();
  Cost alike = counted;
  alike.copied_bytes = predicted.copied_bytes;
  alike.other = predicted.other;
  return alike == predicted;
}

}  // namespace halo
