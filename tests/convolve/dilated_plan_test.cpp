#include "common/convolve/dilated/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;

namespace {

// The plain layer of a slice.
std::string plain(const char* label) {
  const DilatedPlan plan = plan_dilated(conv::parse_label(label));
  INFO(plan.refusal);
  REQUIRE(plan.refusal.empty());
  return conv::label(*plan.plain);
}

}  // namespace

TEST_CASE("dilated: an image of the plain layer for each phase, with its ghost cells") {
  // 65 rows are 33 and 32 of each parity; a window more makes 35.
  CHECK(plain("65-1-3-256-256-d2") == "35-4-3-256-256-p0");
  CHECK(plain("65-3-3-512-512-d4") == "19-48-3-512-512-p0");
  // As many phases as cells: what is left of a filter is a tap or two.
  CHECK(plain("7-1-3-2-2-d7") == "3-49-3-2-2-p0");
}

TEST_CASE("dilated: a stride that shares a factor with the dilation makes fewer phases") {
  CHECK(plain("13-1-3-2-2-s2-p0-d4") == "4-4-3-2-2-p0");     // 3 outputs: 2 of a phase, stride 1
  CHECK(plain("13-1-3-2-2-s2-p0-d2") == "7-1-3-2-2-p0");     // and 5 outputs of one phase
  CHECK(plain("12-1-3-2-2-s2-p0-d3") == "3-9-3-2-2-s2-p0");  // no common factor
  CHECK(plain("9x12-2-3-2-2-d1x2") == "11x8-4-3-2-2-p0");    // one axis only
}

TEST_CASE("dilated: temporaries have a limit, and slices are alike") {
  // An image of 144 phases, 8 x 8 cells of 2,048 channels each, takes 75 MB and a little.
  const DilatedPlan plan = plan_dilated(conv::parse_label("65-32-3-256-2048-d12"));
  CHECK(plan.slices > 1);
  CHECK(32 % plan.slices == 0);
  CHECK(plan.division.images.value * plan.slices == 32);
  CHECK(plan.gathered + plan.sums <= (std::int64_t{1} << 28) + 128);
  CHECK(plan_dilated(conv::parse_label("40000-1-1-1-1-d2")).refusal ==
        "the temporaries of one image are more than 1073741824 bytes");
}

TEST_CASE("dilated: traffic besides the plain layer's, by hand") {
  // 4 x 8 cells in 4 images of 2 x 4, filters of one tap: each warp gathers two images, and scatters one.
  const conv::ConvLayer layer = conv::parse_label("4x8-1-1-1-1-d2");
  const Cost cost = dilated_cost(layer, plan_dilated(layer));
  CHECK(cost.global_load_requests == 1 + 1);
  CHECK(cost.global_load_sectors == 4 + 4);
  CHECK(cost.global_store_sectors == 4 + 4);
  CHECK(cost.launches.size() == 1);  // two that are alike
  CHECK(dilated_bias_cost(layer).global_load_requests == 1);
}
