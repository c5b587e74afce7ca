#include "common/convolve/fourier/fourier.hpp"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/convolve/tiled_layers.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using halo::test::contains;

TEST_CASE("fourier: trials reach all lines") {
  Conv2dStage both;
  both.name = "fourier";
  both.variants = {convolve::fourier(), convolve::fourier_split()};
  test::require_trials_of_all_lines(both, "common/convolve/fourier/");
}

TEST_CASE("fourier: both tiles, blocks and slices", "[all]") {
  Conv2dStage fourier;
  fourier.name = "fourier";
  // Of three images two at a time, of two one.
  for (const int size : {16, 32}) {
    fourier.variants.push_back(convolve::fourier(size, 5'000'000));
  }
  std::vector<conv::ConvLayer> layers = test::tiled_layers();
  // Filters of half a tile, higher than wide; padding wider than the map; taps in a row.
  layers.push_back(conv::ConvLayer({.N = 2, .C = 3, .H = 20, .W = 17, .K = 5, .R = 8, .S = 3}));
  layers.push_back(conv::ConvLayer(
      {.C = 2, .H = 3, .W = 2, .K = 33, .R = 1, .S = 4, .padding_h = 5, .padding_w = 6}));
  layers.push_back(conv::ConvLayer({.C = 5, .H = 9, .W = 40, .K = 3, .R = 1, .S = 2}));
  test::require_traffic(fourier, layers);

  // Blocks of 64 filters and 64 tiles: 4 of 16 x 16 cells an image, 16 of 32 x 32.
  Conv2dStage large = fourier;
  large.variants = {convolve::fourier(16)};
  CHECK_THAT(large.variants[0].prepared(conv::parse_label("28-13-3-64-17")).detail(),
             contains("64 filters"));
  test::require_traffic(large, {conv::parse_label("28-13-3-64-17")});
}

TEST_CASE("fourier: the cost of a layer, by hand") {
  const conv::ConvLayer layer({.H = 14, .W = 14, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  test::counting_backend();
  const auto cost = convolve::fourier().prepared(layer).cost();
  // One tile, of which 14 rows exist; 130 frequencies, of the filter and of the tile a row each, which is 16 complex
  // numbers; the sums of 16 tiles, 32 a request.
  CHECK(cost.global_load_requests == 14 + 130 * 2 + 130 * 16 / 32);
  CHECK(cost.global_store_requests == 130 * 16 / 32 + 130 + 14);
  CHECK(cost.shared_load_conflicts == 0);
  CHECK(cost.shared_store_conflicts == 0);
  CHECK(cost.barriers == 2 + 130 + 2);
}

TEST_CASE("fourier: products on tensor cores, blocks and slices", "[all]") {
  Conv2dStage split;
  split.name = "fourier_split";
  for (const int size : {16, 32}) {
    split.variants.push_back(convolve::fourier_split(size, 2'000'000));
  }
  const std::vector<conv::ConvLayer> layers = {
      // Three chunks, of which the last is not full; blocks of 32 filters, and slices of one image.
      conv::parse_label("14-2-3-70-33"),
      // Blocks of 64; filters and tiles of which not all exist; a chunk and no more.
      conv::ConvLayer({.C = 16, .H = 33, .W = 20, .K = 50, .R = 4, .S = 2, .padding_w = 1}),
      conv::ConvLayer({.N = 3, .C = 1, .H = 3, .W = 2, .K = 5, .R = 1, .S = 2, .padding_h = 2})};
  test::require_traffic(split, layers);

  // More than 64 tiles, in one slice.
  Conv2dStage large = split;
  large.variants = {convolve::fourier_split(16)};
  CHECK_THAT(large.variants[0].prepared(conv::parse_label("28-17-3-64-5")).detail(),
             contains("64 filters"));
  test::require_traffic(large, {conv::parse_label("28-17-3-64-5")});
}

TEST_CASE("fourier: the cost of products on tensor cores, by hand") {
  const conv::ConvLayer layer({.H = 14, .W = 14, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  test::counting_backend();
  const Cost cost = convolve::fourier_split().prepared(layer).cost();
  // As for `fourier`; the sums of 16 tiles leave in two requests of their filter, eight tiles each.
  CHECK(cost.global_load_requests == 14 + 130 * 2 + 130 * 16 / 32);
  CHECK(cost.global_store_requests == 130 * 16 / 32 + 130 * 2 + 14);
  CHECK(cost.shared_load_conflicts == 0);
  CHECK(cost.shared_store_conflicts == 0);
  CHECK(cost.barriers == 2 + 130 * 2 + 2);
  // Two warps, two steps, Gauss's three products, three each, of 2 x 4 fragments.
  CHECK(cost.tensor_instructions == 130 * 2 * 2 * 3 * 3 * 8);
}

TEST_CASE(
    "fourier: products on tensor cores lose no more than float's "
    "may",
    "[all]") {
  // Positive factors, whose roundings towards zero add up, as do the sums that are cut off.
  const conv::ConvLayer layer(
      {.C = 64, .H = 14, .W = 14, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  std::mt19937_64 random(test::seed());
  const std::vector<float> input = test::positive_values(layer.input_size(), random);
  const std::vector<float> filters = test::positive_values(layer.filters_size(), random);
  CHECK(convolve::fourier_split().demand == conv::Demand::transformed_split);
  const std::vector<float> found =
      test::outputs_of(convolve::fourier_split(), layer, input, filters);
  const conv::Comparison as_float =
      conv::check(layer, input, filters, found, conv::Demand::transformed);
  CHECK(as_float.passed());
  // And nowhere near it. One part of a factor, or two products of three, would be off by 2^-12 of the sums, as much as
  // four thousand roundings.
  CHECK(as_float.worst_share < 0.01);
}

TEST_CASE("fourier: the dispatcher has both sizes, twice") {
  const auto contenders = convolve::fourier_contenders();
  REQUIRE(contenders.size() == 4);
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  CHECK(contenders[0].variant == "fourier_16");
  CHECK(contenders[1].variant == "fourier_32");
  CHECK_FALSE(contenders[1].tensor_cores);
  CHECK(contenders[2].variant == "fourier_split_16");
  CHECK(contenders[3].variant == "fourier_split_32");
  CHECK(contenders[3].tensor_cores);
  const convolve::Offer offer = contenders[0].offer(conv::parse_label("14-40-3-70-20"), h200);
  REQUIRE(offer.refusal.empty());
  CHECK_FALSE(contenders[0].offer(conv::parse_label("14-40-3-70-20-s2"), h200).refusal.empty());
  const convolve::LaunchWork& work = offer.work;
  CHECK(work.launches == 3);
  CHECK(work.blocks == 130 * 3 * 2);  // 70 filters and 48 tiles in blocks of 32
  CHECK(work.resident == 12);
  CHECK(work.steps == 2);
  CHECK(work.megabytes > 4e-6 * 2 * 2 * 130 * (20 + 70) * 48);
  const convolve::LaunchWork split =
      contenders[2].offer(conv::parse_label("14-40-3-70-20"), h200).work;
  CHECK(split.blocks == 130 * 3);  // 64 tiles each
  CHECK(split.resident == 4);
  CHECK(split.megabytes == work.megabytes);
}
