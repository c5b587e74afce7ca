#include "stages/07_single_channel_adaptive/adaptive.hpp"

#include <cstdint>

namespace halo::single_channel {

Layer layer_of(const conv::ConvLayer& layer) {
  require_single_channel(layer);
  return {layer.N(), layer.H(), layer.W(), layer.K(),         layer.R(),
          layer.S(), layer.P(), layer.Q(), layer.padding_h(), layer.padding_w()};
}

int prefetch_rows(const Layer& layer) {
  for (int rows = 4; rows >= 1; rows /= 2) {
    const std::int64_t cells = (std::int64_t{rows} + layer.R - 1) * layer.W;
    const std::int64_t taps = std::int64_t{kPrefetchFilters} * layer.R * layer.S;
    if (cells + taps <= 48 * 1024 / 4) return rows;
  }
  return 0;
}

cudaError_t adaptive(const float* input, const float* filters, float* output,
                     const conv::ConvLayer& layer, const Plan& plan) {
  const auto launch = plan.method == Method::filters_over_sms ? filters_over_sms : map_over_sms;
  return launch(input, filters, output, layer_of(layer), divide(plan, layer));
}

}  // namespace halo::single_channel
