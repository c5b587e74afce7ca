#include "common/convolve/implicit_gemm/implicit_gemm.hpp"

#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("implicit_gemm: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "implicit_gemm";
  planned.variants = {convolve::implicit_gemm()};
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
  const auto backend = test::usable_backend();
  const ConvLayer layer({.C = 40, .H = 7, .W = 7, .K = 20, .R = 1, .S = 1});
  for (const Conv2dVariant& variant : convolve::implicit_gemm_of_each_plan()) {
    if (!variant.name.starts_with("gemm_32_8")) continue;
    INFO(variant.name);
    Array input(*backend, layer.input_size());
    Array filters(*backend, layer.filters_size());
    Array packed(*backend, variant.packed_floats(layer));
    Array output(*backend, layer.output_size());
    input.write(conv::adversarial_input(layer, test::seed()));
    filters.write(conv::adversarial_filters(layer, test::seed()));
    REQUIRE(variant.pack(filters.data(), packed.data(), layer) == 0);
    std::vector<float> first;
    for (const bool overlaps : {false, true}) {
      REQUIRE(variant.launch({.layer = layer,
                              .input = input.data(),
                              .filters = filters.data(),
                              .output = output.data(),
                              .packed = packed.data(),
                              .overlaps = overlaps}) == 0);
      std::vector<float> got(static_cast<std::size_t>(layer.output_size()));
      output.read(got);
      if (first.empty()) first = got;
      CHECK(got == first);
    }
  }
}
