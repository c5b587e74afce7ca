#include "common/convolve/windows/windows.hpp"

#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("windows: trials reach all lines, and every layer is right, without hazards") {
  Conv2dStage both;
  both.name = "windows";
  both.variants = {convolve::store_bound(), convolve::few_channels()};
  test::require_trials_of_all_lines(both, "common/convolve/windows/");
}

TEST_CASE("windows: the cost of one channel, by hand") {
  test::usable_backend();  // the plan asks what the GPU holds
  // 3 filters on a map of 8 x 8: 2 quads by 8 rows of threads, 16 of a warp.
  const ConvLayer layer({.H = 8, .W = 8, .K = 3, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto counters = convolve::store_bound().prepared(layer).cost();
  // A thread has one row. A block has two filters, 18 taps for 16 threads, the other one of 9. A row of a
  // window is three quads: the one under the outputs, and for half of the threads the one on either side.
  CHECK(counters.global_load_requests == 2 + 1 + 2 * 3 * 3);
  CHECK(counters.barriers == 2);
  // A store a filter, whole sectors.
  CHECK(counters.global_store_requests == 3);
  CHECK(counters.global_store_sectors == 3 * 8);
  // Of nine taps two quads and one.
  CHECK(counters.shared_load_requests == 3 * 3);
}

TEST_CASE("windows: the cost of windows of three channels, by hand") {
  test::usable_backend();  // the plan asks what the GPU holds
  // 8 x 8 outputs of 2 filters: four pairs of rows by two quads of threads, 8 of a warp, in one block.
  const ConvLayer layer(
      {.C = 3, .H = 8, .W = 8, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto counters = convolve::few_channels().prepared(layer).cost();
  // 2 * 27 taps by 8 threads. Of a channel four rows of a window: the quad, and a cell on either side.
  CHECK(counters.global_load_requests == 7 + 3 * 4 * 3);
  CHECK(counters.barriers == 1);
  // Two rows of each filter, of which a thread has a quad: 4 rows of 8 cells in a request, 4 sectors.
  CHECK(counters.global_store_requests == 2 * 2);
  CHECK(counters.global_store_sectors == 2 * 2 * 4);
  // Of 27 taps six quads, and three that nvcc reads as one.
  CHECK(counters.shared_load_requests == 2 * 7);
}
