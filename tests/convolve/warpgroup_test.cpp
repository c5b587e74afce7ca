#include "common/convolve/warpgroup/warpgroup.hpp"

#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("warpgroup: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "warpgroup";
  planned.variants = {convolve::warpgroup()};
  test::require_trials_of_all_lines(planned, "common/convolve/warpgroup/");
}

TEST_CASE("warpgroup: traffic is as predicted with each tile") {
  Conv2dStage each;
  each.name = "warpgroup";
  each.variants = convolve::warpgroup_of_each_tile();
  test::require_traffic(
      each,
      {
          // Runs of one image and of several, at quads and not; one by one. Several groups of filters.
          ConvLayer({.N = 4, .C = 33, .H = 7, .W = 7, .K = 130, .R = 1, .S = 1}),
          ConvLayer({.N = 2, .C = 6, .H = 13, .W = 11, .K = 33, .R = 1, .S = 1}),
          ConvLayer({.N = 2, .C = 32, .H = 14, .W = 14, .K = 64, .R = 1, .S = 1}),
          ConvLayer({.N = 3,
                     .C = 33,
                     .H = 9,
                     .W = 11,
                     .K = 70,
                     .R = 3,
                     .S = 2,
                     .stride_h = 2,
                     .padding_h = 1,
                     .padding_w = 1}),
      });
}
