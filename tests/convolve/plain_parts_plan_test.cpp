#include "common/convolve/plain_parts/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;

namespace {

// The plain layer of a slice.
std::string plain(const char* label) {
  const PartsPlan plan = plan_parts(conv::parse_label(label));
  INFO(plan.refusal);
  REQUIRE(plan.refusal.empty());
  return conv::label(*plan.plain);
}

}  // namespace

TEST_CASE("plain_parts: an image of the plain layer for each phase, with its ghost cells") {
  // 65 rows are 33 and 32 of each parity; a window more makes 35.
  CHECK(plain("65-1-3-256-256-d2") == "35-4-3-256-256-p0");
  CHECK(plain("65-3-3-512-512-d4") == "19-48-3-512-512-p0");
  // As many phases as cells: what is left of a filter is a tap or two.
  CHECK(plain("7-1-3-2-2-d7") == "3-49-3-2-2-p0");
}

TEST_CASE("plain_parts: a stride that shares a factor with the dilation makes fewer phases") {
  CHECK(plain("13-1-3-2-2-s2-p0-d4") == "4-4-3-2-2-p0");     // 3 outputs: 2 of a phase, stride 1
  CHECK(plain("13-1-3-2-2-s2-p0-d2") == "7-1-3-2-2-p0");     // and 5 outputs of one phase
  CHECK(plain("12-1-3-2-2-s2-p0-d3") == "3-9-3-2-2-s2-p0");  // no common factor
  CHECK(plain("9x12-2-3-2-2-d1x2") == "9x8-4-3-2-2-p1x0");   // one axis only
}

TEST_CASE("plain_parts: temporaries have a limit, and slices are alike") {
  // An image of 144 phases, 8 x 8 cells of 2,048 channels each, takes 75 MB and a little.
  const PartsPlan plan = plan_parts(conv::parse_label("65-32-3-256-2048-d12"));
  CHECK(plan.slices > 1);
  CHECK(32 % plan.slices == 0);
  CHECK(plan.division.images.value * plan.slices == 32);
  CHECK(plan.gathered + plan.sums <= (std::int64_t{1} << 28) + 128);
  CHECK(plan_parts(conv::parse_label("40000-1-1-1-1-d2")).refusal ==
        "the temporaries of one image are more than 1073741824 bytes");
}

TEST_CASE("plain_parts: traffic besides the plain layer's, by hand") {
  // 4 x 8 cells in 4 images of 2 x 4, filters of one tap: each warp gathers two images, and scatters one.
  const conv::ConvLayer layer = conv::parse_label("4x8-1-1-1-1-d2");
  const Cost cost = parts_cost(layer, plan_parts(layer));
  CHECK(cost.global_load_requests == 1 + 1);
  CHECK(cost.global_load_sectors == 4 + 4);
  CHECK(cost.global_store_sectors == 8 + 4);  // and what fills the pitch of 64
  CHECK(cost.launches.size() == 1);           // two that are alike
  CHECK(parts_bias_cost(layer, plan_parts(layer)).global_load_requests == 1);
}

TEST_CASE("plain_parts: a layer for each group, where it lies if that is one image") {
  CHECK(plain("27-1-5-256-96-g2") == "27-1-5-128-48");
  CHECK(plain("13-32-3-384-384-g2") == "13-32-3-192-192");
  CHECK(plain("9-2-3-6-4-g2-d3") == "5-18-3-3-2-p0");
  // 256 cells are whole pieces of 256 bytes; 80 * 49 are not.
  CHECK(plan_parts(conv::parse_label("16-1-5-256-96-g2")).in_place);
  CHECK_FALSE(plan_parts(conv::parse_label("7-1-1-960-240-g3")).in_place);
  CHECK_FALSE(plan_parts(conv::parse_label("16-2-5-256-96-g2")).in_place);
}

TEST_CASE("plain_parts: few groups of long sums are for it, and all dilation without groups") {
  const auto is_for_it = [](const char* label) {
    return better_grouped(conv::parse_label(label)).empty();
  };
  CHECK(is_for_it("13-32-3-384-384-g2"));
  CHECK(is_for_it("14-1-1-120-480-g3"));
  CHECK_FALSE(is_for_it("14-32-1-120-480-g3"));
  CHECK_FALSE(is_for_it("7-1-3-1024-1024-g32"));
  CHECK_FALSE(is_for_it("14-1-3-96-96-g96-d2"));
  CHECK(is_for_it("33-1-3-2-2-d2"));
}
