#include "stages/04_conv1d_tiled_halo.hpp"

#include "tests/catch.hpp"
#include "tests/stages/signals.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("04_conv1d_tiled_halo: every shape is right, without hazards") {
  test::require_trials_of_all_lines(conv1d_tiled_halo::stage());
}

TEST_CASE("04_conv1d_tiled_halo: traffic is as predicted") {
  test::require_traffic(conv1d_tiled_halo::stage(), test::counted_signals());
}

TEST_CASE("04_conv1d_tiled_halo: the prediction is what an H200 counted") {
  const simt::Counters counters =
      test::predict(conv1d_tiled_halo::stage(), "tiled_halo", test::known_signal());
  CHECK(counters.global_load_requests == 3'516);
  CHECK(counters.global_load_sectors == 16'405);
  CHECK(counters.global_store_requests == 3'125);
  CHECK(counters.global_store_sectors == 12'500);
  CHECK(counters.shared_load_requests == 28'125);
  CHECK(counters.shared_load_wavefronts == 28'125);
  CHECK(counters.shared_load_conflicts == 0);
  CHECK(counters.shared_store_wavefronts == 3'519);
}
