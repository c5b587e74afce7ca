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
  local_sectors += times * other.local_sectors;
  mbarrier_phases += times * other.mbarrier_phases;
  hidden_requests += times * other.hidden_requests;
  most_requests = std::max(most_requests, other.most_requests);
  unfreed_bytes += times * other.unfreed_bytes;
  copied_bytes += times * other.copied_bytes;
}

bool as_predicted(const Cost& counted, const Cost& predicted) {
  if (predicted.launches.empty()) return counted.counters() == predicted.counters();
  Cost alike = counted;
  alike.copied_bytes = predicted.copied_bytes;
  alike.local_sectors = predicted.local_sectors;
  alike.mbarrier_phases = predicted.mbarrier_phases;
  alike.hidden_requests = predicted.hidden_requests;
  alike.most_requests = predicted.most_requests;
  return alike == predicted;
}

}  // namespace halo
