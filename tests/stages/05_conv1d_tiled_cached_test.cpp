#include "stages/05_conv1d_tiled_cached.hpp"

#include "tests/catch.hpp"
#include "tests/stages/signals.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("05_conv1d_tiled_cached: every shape is right, without hazards") {
  test::require_trials_of_all_lines(conv1d_tiled_cached::stage());
}

TEST_CASE("05_conv1d_tiled_cached: traffic is as predicted") {
  test::require_traffic(conv1d_tiled_cached::stage(), test::counted_signals());
}

TEST_CASE("05_conv1d_tiled_cached: the cost of one block, by hand") {
  // Three blocks of 32 threads, mask 3. Each: one request for the tile (4 sectors); at each seam
  // one cell of the neighbour, from both sides (1 request, 1 sector each).
  const auto three =
      test::predict(conv1d_tiled_cached::stage(), "tiled_cached", Conv1dProblem(96, 3, 32));
  CHECK(three.global_load_requests == 3 + 4);
  CHECK(three.global_load_sectors == 3 * 4 + 4);
  CHECK(three.shared_store_requests == 3);
  CHECK(three.shared_load_requests == 9);
  CHECK(three.constant_load_requests == 9);
  CHECK(three.global_store_sectors == 12);
  CHECK(three.barriers == 3);
}
