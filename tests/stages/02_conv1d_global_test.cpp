#include "stages/02_conv1d_global.hpp"

#include "tests/catch.hpp"
#include "tests/stages/signals.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("02_conv1d_global: every shape is right, without hazards") {
  test::require_trials_of_all_lines(conv1d_global::stage());
}

TEST_CASE("02_conv1d_global: traffic is as predicted") {
  test::require_traffic(conv1d_global::stage(), test::counted_signals());
}

TEST_CASE("02_conv1d_global: the prediction is what an H200 counted") {
  const simt::Counters counters =
      test::predict(conv1d_global::stage(), "grid", test::known_signal());
  CHECK(counters.global_load_requests == 56'250);
  CHECK(counters.global_load_sectors == 165'617);
  CHECK(counters.global_store_requests == 3'125);
  CHECK(counters.global_store_sectors == 12'500);
}
