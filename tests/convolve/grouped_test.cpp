#include "common/convolve/grouped/grouped.hpp"

#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// Depthwise layers of each size of filter and stride, in quads and not, with several strips, images and paddings; groups of
// four and eight filters and of fewer and more; dilations.
std::vector<ConvLayer> sparse_layers() {
  std::vector<ConvLayer> layers;
  for (const char* const label :
       {"9x12-2-3-3-3-g3",      "9x11-2-3-3-3-g3",      "11x10-2-3-3-3-s2-g3",
        "9x11-2-3-3-3-s2-g3",   "12x8-2-5-2-2-s2-g2",   "9x8-1-5-2-2-g2",
        "6x9-2-5-2-2-g2",       "12x9-1-5-2-2-s2-g2",   "9x8-2-7-2-2-g2",
        "6x10-1-7-3-3-g3",      "12x10-1-7-2-2-s2-g2",  "8x6-2-1-3-3-g3",
        "7x7-2-1-3-3-g3",       "9x7-1-3-2-2-p0-g2-d2", "9x12-2-3-8-6-g2",
        "9x11-1-3-6-4-g2",      "10x9-2-3-6-6-s2-g2",   "4x6-2-1-8-4-g2",
        "5x7-1-1-6-6-g2",       "9-1-3-6-6-g2-d2",      "7-1-3x2-4-6-p0-g2",
        "7-1-4-2-2-g2",         "9x12-1-3-20-6-g2",     "9x11-2-3-16-4-g2",
        "10x9-1-3-18-4-s2-g2",  "4x6-2-1-20-4-g2",      "5x7-1-1-18-6-g2",
        "8x9-1-3-10-4-g2-d1x2", "7-1-3x2-18-4-p0-g2"}) {
    layers.push_back(conv::parse_label(label));
  }
  return layers;
}

}  // namespace

TEST_CASE("grouped: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "grouped";
  planned.variants = {convolve::grouped()};
  test::require_trials_of_all_lines(planned, "common/convolve/grouped/");
  test::require_traffic(planned, sparse_layers());
}

TEST_CASE("grouped: each shape is right, without hazards, and costs what was predicted") {
  const auto backend = test::usable_backend();
  Conv2dStage shapes;
  shapes.name = "grouped";
  shapes.variants = convolve::grouped_of_each_shape();
  for (const Conv2dVariant& one : shapes.variants) {
    std::vector<ConvLayer> taken;
    for (const ConvLayer& layer : sparse_layers()) {
      if (refusal(one, layer).empty()) taken.push_back(layer);
    }
    INFO(one.name);
    REQUIRE(!taken.empty());
    Row row;
    Progress progress;
    check_trials(one, *backend, taken, test::seed(), row, progress);
    INFO(test::faults(row));
    CHECK(row.check.outcome == Outcome::good);
    CHECK(row.hazards.outcome == (backend->observes() ? Outcome::good : Outcome::not_run));
  }
  if (backend->observes()) test::require_traffic(shapes, sparse_layers());
}

TEST_CASE("grouped: sums are the same bits, however the call is launched") {
  const ConvLayer layer = conv::parse_label("9x12-2-3-3-3-g3");
  const auto input = conv::adversarial_input(layer, test::seed());
  const auto filters = conv::adversarial_filters(layer, test::seed());
  CHECK(test::outputs_of(convolve::grouped(), layer, input, filters) ==
        test::outputs_of(convolve::grouped(), layer, input, filters, true));
}
