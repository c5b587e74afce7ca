#include "common/convolve/dilated/dilated.hpp"

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
  return convolve::dilated([](const ConvLayer&) -> const Conv2dVariant& { return grouped; });
}

}  // namespace

TEST_CASE("dilated: trials reach all lines, and every layer is right, without hazards") {
  Conv2dStage stage;
  stage.name = "dilated";
  stage.variants = {by_grouped()};
  test::require_trials_of_all_lines(stage, "common/convolve/dilated/");
  std::vector<ConvLayer> layers;
  for (const char* const label :
       {"9x12-2-3-3-4-d2", "13x11-1-3-2-3-s2x1-p3x5-d3", "12x9-2-3x2-2-2-s2x4-p0-d4x6",
        "8x10-1-5-2-1-p1-d1x2", "7-1-3-2-2-p8-d7", "6x7-1-1-2-3-s2-p1-d3"}) {
    layers.push_back(conv::parse_label(label));
    CHECK(refusal(stage.variants.front(), layers.back()).empty());
  }
  test::require_traffic(stage, layers);
}

TEST_CASE("dilated: layers without dilation and with groups are for others") {
  for (const char* const label : {"9-1-3-4-4", "9-1-3-4-4-g2-d2"}) {
    CHECK(refusal(by_grouped(), conv::parse_label(label)) ==
          "it is made for layers with dilation and one group");
  }
}
