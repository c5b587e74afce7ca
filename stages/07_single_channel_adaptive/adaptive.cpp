#include "stages/07_single_channel_adaptive/adaptive.hpp"

#include <cstdint>

namespace halo::single_channel_adaptive {

int prefetch_rows(const LayerNumbers& layer) {
  for (int rows = 4; rows >= 1; rows /= 2) {
    const std::int64_t cells = (std::int64_t{rows} + layer.R - 1) * layer.W;
    const std::int64_t taps = std::int64_t{kPrefetchFilters} * layer.R * layer.S;
    if (cells + taps <= 48 * 1024 / 4) return rows;
  }
  return 0;
}

int adaptive(const LayerCall& call, const Plan& plan, const Division& division) {
  return plan.method == Method::filters_over_sms ? filters_over_sms(call, division)
                                                 : map_over_sms(call, division);
}

}  // namespace halo::single_channel_adaptive
