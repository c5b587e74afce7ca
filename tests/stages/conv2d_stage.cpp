#include "tests/stages/conv2d_stage.hpp"

#include <algorithm>

#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"

namespace halo::test {

namespace {

std::vector<conv::ConvLayer> taken(const Conv2dVariant& variant,
                                   std::vector<conv::ConvLayer> layers) {
  std::erase_if(layers,
                [&](const conv::ConvLayer& layer) { return !refusal(variant, layer).empty(); });
  return layers;
}

}  // namespace

void require_trials(const Conv2dStage& stage) {
  const auto backend = usable_backend();
  const auto layers = adversarial_layers(seed());
  int tried = 0;
  for (const Conv2dVariant& variant : stage.variants) {
    INFO(stage.name << " " << variant.name);
    if (!variant.unavailable.empty()) {
      WARN(variant.name << " NOT RUN: " << variant.unavailable);
      continue;
    }
    ++tried;
    Row row;
    Progress progress;
    check_layers(variant, *backend, layers, seed(), row, progress);
    INFO(faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.check.shapes == static_cast<int>(taken(variant, layers).size()));
    CHECK(row.check.shapes > 0);
    const bool watched = backend->observes() && variant.uncounted.empty();
    CHECK(row.hazards.outcome == (watched ? Outcome::good : Outcome::not_run));
  }
  REQUIRE(tried > 0);
}

void require_traffic(const Conv2dStage& stage, const std::vector<conv::ConvLayer>& more) {
  const auto backend = counting_backend();
  std::vector<conv::ConvLayer> layers = adversarial_layers(seed());
  layers.insert(layers.end(), more.begin(), more.end());
  int counted = 0;
  for (const Conv2dVariant& variant : stage.variants) {
    if (!variant.predict) continue;
    for (const conv::ConvLayer& layer : taken(variant, layers)) {
      Row row;
      check_layer(variant, *backend, layer, seed(), row);
      INFO(stage.name << " " << variant.name << ": " << conv::label(layer) << "\n" << faults(row));
      CHECK(row.check.outcome == Outcome::good);
      CHECK(row.hazards.outcome == Outcome::good);
      CHECK(row.traffic.outcome == Outcome::good);
      ++counted;
    }
  }
  REQUIRE(counted > 0);
}

simt::Counters predict(const Conv2dStage& stage, const std::string& variant,
                       const conv::ConvLayer& layer) {
  counting_backend();
  for (const Conv2dVariant& candidate : stage.variants) {
    if (candidate.name == variant) return candidate.predict(layer);
  }
  FAIL("no variant " << variant);
  return {};
}

}  // namespace halo::test
