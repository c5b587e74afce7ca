#include "common/convolve/split_tf32/split_tf32.hpp"

#include <random>

#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

TEST_CASE("split_tf32: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "split_tf32";
  planned.variants = {convolve::split_tf32()};
  test::require_trials_of_all_lines(planned, "common/convolve/split_tf32/");
  test::require_traffic(planned);
}

TEST_CASE("split_tf32: traffic is as predicted with each tile", "[all]") {
  Conv2dStage both;
  both.name = "split_tf32";
  both.variants = convolve::split_tf32_of_each_tile();
  test::require_traffic(
      both, {
                // More than one group of filters, a last tile that is not full, two images.
                ConvLayer({.N = 2, .C = 20, .H = 10, .W = 10, .K = 130, .R = 1, .S = 1}),
                ConvLayer({.N = 2, .C = 17, .H = 9, .W = 9, .K = 70, .R = 1, .S = 1}),
                ConvLayer({.N = 3,
                           .C = 33,
                           .H = 9,
                           .W = 11,
                           .K = 129,
                           .R = 3,
                           .S = 2,
                           .stride_h = 2,
                           .padding_h = 1,
                           .padding_w = 1}),
            });
}

TEST_CASE("split_tf32: the cost of a layer, by hand") {
  // One block of 64 filters and 128 outputs, of which 64 exist. One tap of 16 channels is one piece, half of
  // a stage; with the stages after it six pieces are stored on chip.
  const ConvLayer layer({.C = 16, .H = 8, .W = 8, .K = 64, .R = 1, .S = 1});
  test::counting_backend();
  const Cost cost = convolve::split_tf32().prepared(layer).cost();
  CHECK(cost.launches == std::vector<LaunchFigures>{{1, 1, 128, 101'376}});
  // The piece's filters are 16 * 64 * 2 floats, 16 requests of quads; a channel's pixels are one request.
  CHECK(cost.global_load_requests == 16 + 16);
  CHECK(cost.global_load_sectors == 16 * 16 + 16 * 8);
  CHECK(cost.global_store_requests == 64);
  CHECK(cost.global_store_sectors == 64 * 8);
  // Copies, and the sums of 4 warps on their way to memory: 64 * 128 floats in quads.
  CHECK(cost.shared_store_requests == 6 * (16 + 16) + 64);
  // Each warp: 4 steps and one for nothing, of 8 fragments of filters and 2 rows of pixels.
  CHECK(cost.shared_load_requests == 4 * 5 * (8 + 2) + 64);
  CHECK(cost.shared_load_conflicts == 0);
  CHECK(cost.shared_store_conflicts == 0);
  CHECK(cost.tensor_instructions == 4 * 4 * 3 * 16);
  CHECK(cost.barriers == 4);
}

TEST_CASE("split_tf32: factors in two parts lose no more than float sums may", "[all]") {
  // Positive factors, whose roundings towards zero add up: TF32 alone would be off by 2^-11 of the sum.
  const ConvLayer layer({.C = 256, .H = 4, .W = 4, .K = 8, .R = 3, .S = 3});
  std::mt19937_64 random(test::seed());
  const std::vector<float> input = test::positive_values(layer.input_size(), random);
  const std::vector<float> filters = test::positive_values(layer.filters_size(), random);
  const std::vector<float> found = test::outputs_of(convolve::split_tf32(), layer, input, filters);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const conv::OutputReference expected =
        conv::output_reference(layer, input, filters, static_cast<std::int64_t>(i));
    worst = std::max(worst, std::abs(found[i] - expected.value) /
                                conv::error_bound(expected.products, expected.scale));
  }
  // The bound of a float sum; and with sums that move on every 64 products it is nowhere near.
  CHECK(worst < 0.1);
}
