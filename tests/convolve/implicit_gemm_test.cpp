#include "common/convolve/implicit_gemm/implicit_gemm.hpp"

#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("implicit_gemm: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "implicit_gemm";
  planned.variants = {convolve::implicit_gemm(), convolve::unpacked_gemm()};
  test::require_trials_of_all_lines(planned, "common/convolve/implicit_gemm/");
  test::require_traffic(planned);
}

TEST_CASE("implicit_gemm: traffic is as predicted with each plan", "[all]") {
  Conv2dStage plans;
  plans.name = "implicit_gemm";
  plans.variants = convolve::implicit_gemm_of_each_plan();
  test::require_traffic(
      plans,
      {
          // Several tiles each way, channels and filters that fill no quad, ghosts, strides, images.
          ConvLayer({.N = 2,
                     .C = 9,
                     .H = 12,
                     .W = 10,
                     .K = 35,
                     .R = 3,
                     .S = 3,
                     .padding_h = 1,
                     .padding_w = 1}),
          ConvLayer({.N = 2, .C = 5, .H = 9, .W = 9, .K = 17, .R = 3, .S = 2, .stride_w = 2}),
          // By 16 bytes, and maps that forbid that.
          ConvLayer({.N = 3, .C = 70, .H = 6, .W = 6, .K = 40, .R = 1, .S = 1}),
          ConvLayer({.C = 66, .H = 7, .W = 7, .K = 33, .R = 1, .S = 1}),
      });
}

TEST_CASE("implicit_gemm: sums are the same bits, however the call is launched") {
  const ConvLayer layer({.C = 40, .H = 7, .W = 7, .K = 20, .R = 1, .S = 1});
  const auto input = conv::adversarial_input(layer, test::seed());
  const auto filters = conv::adversarial_filters(layer, test::seed());
  for (const Conv2dVariant& variant : convolve::implicit_gemm_of_each_plan()) {
    if (!variant.name.starts_with("gemm_32_8") && variant.name != "unpacked_gemm") continue;
    INFO(variant.name);
    CHECK(test::outputs_of(variant, layer, input, filters) ==
          test::outputs_of(variant, layer, input, filters, true));
  }
}
