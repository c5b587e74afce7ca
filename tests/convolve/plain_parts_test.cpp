#include "common/convolve/plain_parts/plain_parts.hpp"

#include "common/convolve/grouped/grouped.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// The plain layer by a kernel that takes any.
Conv2dVariant by_grouped() {
  static const Conv2dVariant grouped = convolve::grouped();
  return convolve::plain_parts([](const ConvLayer&) -> const Conv2dVariant& { return grouped; });
}

}  // namespace

TEST_CASE("plain_parts: trials reach all lines, and every layer is right, without hazards") {
  Conv2dStage stage;
  stage.name = "plain_parts";
  stage.variants = {by_grouped()};
  test::require_trials_of_all_lines(stage, "common/convolve/plain_parts/");
  std::vector<ConvLayer> layers;
  for (const char* const label :
       {"9x12-2-3-3-4-d2", "13x11-1-3-2-3-s2x1-p3x5-d3", "12x9-2-3x2-2-2-s2x4-p0-d4x6",
        "8x10-1-5-2-1-p1-d1x2", "7-1-3-2-2-p8-d7", "6x7-1-1-2-3-s2-p1-d3", "9x7-2-3-6-4-g2",
        "8-1-3-6-3-g3", "9x7-1-3-6-4-s2-g2", "9x8-2-3-6-4-g2-d1x2"}) {
    layers.push_back(conv::parse_label(label));
    CHECK(refusal(stage.variants.front(), layers.back()).empty());
  }
  const auto backend = test::usable_backend();
  Row row;
  Progress progress;
  check_trials(stage.variants.front(), *backend, layers, test::seed(), row, progress);
  INFO(test::faults(row));
  CHECK(row.check.outcome == Outcome::good);
  if (backend->observes()) test::require_traffic(stage, layers);
}

TEST_CASE("plain_parts: plain layers are for others") {
  CHECK(refusal(by_grouped(), conv::parse_label("9-1-3-4-4")) ==
        "it is made for layers with groups or dilation");
}
