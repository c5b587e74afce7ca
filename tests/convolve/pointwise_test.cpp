#include "common/convolve/pointwise/pointwise.hpp"

#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("pointwise: trials of each tile reach all lines, and traffic is as predicted") {
  Conv2dStage tiles;
  tiles.name = "pointwise";
  tiles.variants = convolve::pointwise_of_each_tile();
  test::require_trials_of_all_lines(tiles, "common/convolve/pointwise/");
  test::require_traffic(tiles, {conv::parse_label("9x14-2-1-210-15-g3")});
}
