#include "stages/03_conv1d_constant.hpp"

#include "tests/catch.hpp"
#include "tests/stages/signals.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("03_conv1d_constant: every shape is right, without hazards") {
  test::require_trials_of_all_lines(conv1d_constant::stage());
}

TEST_CASE("03_conv1d_constant: traffic is as predicted") {
  test::require_traffic(conv1d_constant::stage(), test::counted_signals());
}

TEST_CASE("03_conv1d_constant: the prediction is what an H200 counted") {
  const simt::Counters counters =
      test::predict(conv1d_constant::stage(), "constant", test::known_signal());
  CHECK(counters.global_load_requests == 28'125);
  CHECK(counters.global_load_sectors == 137'492);
  CHECK(counters.global_store_requests == 3'125);
  CHECK(counters.global_store_sectors == 12'500);
}
