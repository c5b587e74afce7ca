#include "stages/01_conv1d_cpu/stage.hpp"
#include "tests/catch.hpp"
#include "tests/stages/conv1d_stage.hpp"

using namespace halo;

TEST_CASE("01_conv1d_cpu: every shape is right") { test::require_trials(conv1d_cpu::stage()); }

TEST_CASE("01_conv1d_cpu: the report's Figure 1") {
  // N = 1..5 between zeros, M = 0.3, 0.2, 0.8.
  const float input[7] = {0, 1, 2, 3, 4, 5, 0};
  const float mask[3] = {0.3f, 0.2f, 0.8f};
  const float expected[7] = {0, 1.8f, 3.1f, 4.4f, 5.7f, 2.2f, 0};
  for (const Conv1dVariant& variant : conv1d_cpu::stage().variants) {
    INFO(variant.name);
    float output[7] = {};
    Conv1dCall call;
    call.length = 7;
    call.mask_width = 3;
    call.first = 1;  // the report leaves the borders alone
    call.last = 6;
    call.threads = 2;
    call.input = input;
    call.mask = mask;
    call.output = output;
    REQUIRE(variant.launch(call) == 0);
    for (int i = 0; i < 7; ++i) CHECK(output[i] == test::Approx(expected[i]).margin(1e-6));
  }
}
