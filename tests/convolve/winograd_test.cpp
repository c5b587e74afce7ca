#include "common/convolve/winograd/winograd.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "common/convolve/winograd/plan.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/convolve/tiled_layers.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

namespace {

Conv2dStage of(std::vector<Conv2dVariant> variants) {
  Conv2dStage some;
  some.name = "winograd";
  some.variants = std::move(variants);
  return some;
}

// For Winograd's method in three kernels: 3, 4 and 5 taps of each phase, taps that some phases do not have, ghost
// cells, strides that differ, and groups.
std::vector<conv::ConvLayer> strided_layers() {
  return {
      conv::ConvLayer({.N = 2,
                       .C = 12,
                       .H = 19,
                       .W = 26,
                       .K = 105,
                       .R = 5,
                       .S = 5,
                       .stride_h = 2,
                       .stride_w = 2,
                       .padding_h = 2,
                       .padding_w = 1,
                       .groups = 3}),
      conv::ConvLayer({.N = 2,
                       .C = 9,
                       .H = 19,
                       .W = 26,
                       .K = 35,
                       .R = 5,
                       .S = 5,
                       .stride_h = 2,
                       .stride_w = 2,
                       .padding_h = 2,
                       .padding_w = 1}),
      conv::ConvLayer({.N = 3,
                       .C = 3,
                       .H = 39,
                       .W = 47,
                       .K = 20,
                       .R = 11,
                       .S = 11,
                       .stride_h = 4,
                       .stride_w = 4,
                       .padding_w = 2}),
      conv::ConvLayer({.C = 5,
                       .H = 23,
                       .W = 17,
                       .K = 18,
                       .R = 7,
                       .S = 4,
                       .stride_h = 2,
                       .padding_h = 3,
                       .padding_w = 2}),
      conv::ConvLayer({.N = 2,
                       .C = 4,
                       .H = 21,
                       .W = 30,
                       .K = 12,
                       .R = 9,
                       .S = 14,
                       .stride_h = 2,
                       .stride_w = 3}),
  };
}

}  // namespace

TEST_CASE("winograd: trials reach all lines, and traffic is as predicted") {
  Conv2dStage all = of({convolve::winograd(2), convolve::winograd(4), convolve::winograd_apart(),
                        convolve::winograd_split()});
  test::require_traffic(all, test::tiled_layers());
  // Small layers get the smallest blocks of products.
  all.variants.push_back(convolve::winograd_apart_of_each_shape().front());
  test::require_trials_of_all_lines(all, "common/convolve/winograd/");
}

TEST_CASE("winograd: every shape is right and as predicted", "[all]") {
  Conv2dStage searched = of({});
  searched.variants = convolve::winograd_of_each_shape();
  std::erase_if(searched.variants,
                [](const Conv2dVariant& variant) { return variant.name.ends_with("_p2"); });
  CHECK(searched.variants.size() == 5 * 3);
  // 67 channels are 9 chunks or 17, in 8 parts that differ.
  test::require_traffic(
      searched,
      {conv::ConvLayer(
           {.C = 67, .H = 9, .W = 14, .K = 66, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
       conv::ConvLayer(
           {.C = 67, .H = 7, .W = 6, .K = 33, .R = 5, .S = 5, .padding_h = 2, .padding_w = 2})});
}

TEST_CASE("winograd: the cost of a layer, by hand") {
  // 2 x 2 tiles of 4 x 4 outputs, one block of 32 filters, one chunk of 4 channels.
  const conv::ConvLayer layer(
      {.C = 4, .H = 8, .W = 8, .K = 32, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto cost = test::predict(of({convolve::winograd(4)}), "winograd_4x4", layer);
  // 36 numbers of 32 filters on 4 channels, four a lane. Of each channel's patches a request a row: the upper
  // tiles' and the lower tiles' row of the map, a sector each, but for the ghost rows of the first and the last.
  CHECK(cost.global_load_requests == 36 + 4 * 6);
  CHECK(cost.global_load_sectors == 36 * 16 + 4 * (1 + 2 + 2 + 2 + 2 + 1));
  // 4 rows of each filter, of the upper and of the lower tiles.
  CHECK(cost.global_store_requests == 32 * 4);
  CHECK(cost.global_store_sectors == 32 * 4 * 2);
  // Zeros, patches, filters, frequencies, sums, rows of outputs.
  CHECK(cost.shared_store_requests == 72 + 24 + 36 + 4 * 36 + 36 * 8 + 32 * 4);
  // Patches: all 6 rows for two rows of frequencies, 4 for the other four, two columns at once. Products: 3
  // float4. Sums, and outputs.
  CHECK(cost.shared_load_requests == 4 * (6 + 4 + 4) * 3 + 36 * 4 * 3 + 32 * 36 + 32 * 4);
  CHECK(cost.barriers == 3 + 2 + 1);
}

TEST_CASE("winograd: in three kernels, every block is right and as predicted", "[all]") {
  Conv2dStage searched = of({});
  searched.variants = convolve::winograd_apart_of_each_shape();
  CHECK(searched.variants.size() == 3 * 6);
  test::require_traffic(
      searched,
      {conv::ConvLayer(
           {.C = 35, .H = 9, .W = 14, .K = 66, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
       conv::ConvLayer({.N = 2, .C = 5, .H = 11, .W = 12, .K = 33, .R = 4, .S = 4}),
       conv::parse_label("9x14-1-3-140-70-g2")});
}

TEST_CASE("winograd: on tensor cores, each number of tiles is right and as predicted", "[all]") {
  Conv2dStage searched = of({});
  searched.variants = convolve::winograd_split_of_each_tile();
  CHECK(searched.variants.size() == 3 * 6);
  test::require_traffic(
      searched,
      // Several pieces of channels, tiles of filters and blocks of tiles, the last of which are not full.
      {conv::ConvLayer(
           {.C = 35, .H = 9, .W = 74, .K = 130, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
       conv::ConvLayer({.N = 2, .C = 5, .H = 11, .W = 12, .K = 33, .R = 4, .S = 4})});
}

TEST_CASE("winograd: on tensor cores, slice by slice, with phases of channels", "[all]") {
  Conv2dStage sliced = of({});
  // Of three images of 3 x 5 tiles two at a time, in blocks of 32 tiles.
  sliced.variants = {convolve::winograd_split(300'000)};
  test::require_traffic(sliced, test::tiled_layers());
  std::vector<conv::ConvLayer> layers = strided_layers();
  std::erase_if(layers, [](const conv::ConvLayer& layer) { return layer.groups() > 1; });
  sliced.variants = {convolve::winograd_split()};
  test::require_traffic(sliced, layers);
}

TEST_CASE("winograd: on tensor cores, the cost of a layer, by hand") {
  // 2 x 2 tiles of 4 x 4 outputs, which are 32 to the products; 4 channels of a piece of 32; 32 filters of 128.
  const conv::ConvLayer layer(
      {.C = 4, .H = 8, .W = 8, .K = 32, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  test::counting_backend();
  const Cost cost = convolve::winograd_split().prepared(layer).cost();
  CHECK(cost.launches ==
        std::vector<LaunchFigures>{{1, 1, 128, 0}, {1, 8, 128, 0}, {1, 36, 512, 155'232}});
  // A warp has 4 channels of 8 tiles, of which 4 exist; each number in two parts, whether it exists or not.
  CHECK(cost.global_load_requests == 36 + 4 * 36 + 36 * 4);
  CHECK(cost.global_store_requests == 2 * 36 * 8 * 4 + 36 * 4 + 4 * 4);
  CHECK(cost.bulk_load_sectors == 36 * 2 * 32 * 32 * 4 / 32);
  CHECK(cost.tensor_instructions == 36 * 8 * 4 * 3);
}

TEST_CASE("winograd: on tensor cores, sums of one sign err little more than in float") {
  const conv::ConvLayer layer(
      {.C = 512, .H = 8, .W = 8, .K = 8, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  std::mt19937_64 random(test::seed());
  const std::vector<float> input = test::positive_values(layer.input_size(), random);
  const std::vector<float> filters = test::positive_values(layer.filters_size(), random);
  double worst[2] = {};
  const Conv2dVariant both[] = {convolve::winograd_apart(), convolve::winograd_split()};
  for (int own = 0; own < 2; ++own) {
    const std::vector<float> found = test::outputs_of(both[own], layer, input, filters);
    for (std::int64_t i = 0; i < layer.output_size(); ++i) {
      const double expected = conv::output_reference(layer, input, filters, i).value;
      worst[own] =
          std::max(worst[own], std::abs(found[static_cast<std::size_t>(i)] - expected) / expected);
    }
  }
  CAPTURE(worst[0], worst[1]);
  CHECK(worst[1] < 1.5 * worst[0]);
}

TEST_CASE("winograd: in three kernels, slice by slice", "[all]") {
  using convolve::winograd_apart;
  Conv2dStage sliced = of({});
  // 41 and 66 channels of 3 x 5 tiles, and 35 and 65 of 4 x 5: one image at a time; of 17 and 40 both.
  sliced.variants = {winograd_apart(80'000)};
  test::require_traffic(sliced, test::tiled_layers());
  sliced.variants = {winograd_apart(100'000)};
  test::require_traffic(sliced, strided_layers());

  // One image of 2 x 2 tiles, 4 channels, 32 filters: a lane a tile, of 36 numbers each.
  const conv::ConvLayer layer(
      {.C = 4, .H = 8, .W = 8, .K = 32, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto cost = test::predict(of({winograd_apart()}), "winograd_apart", layer);
  // Of a patch all but the ghost cells, each cell a request for all four tiles. Then blocks of 64 filters and 16 tiles
  // read a row of 32 filters (8 lanes of 16) and of 4 tiles (one of 4) of each channel; then the sums.
  const std::uint64_t patches = 4 * 36, filters = 36 * 4 / 2, tiles = 36, sums = 36 * 32;
  CHECK(cost.global_load_requests == patches + filters + tiles + sums);
  // Of the products 32 filters, four a lane.
  CHECK(cost.global_store_requests == 36 * 4 + 36 * 4 + 32 * 4);
  CHECK(cost.barriers == 36);
}

TEST_CASE("winograd: the dispatcher has every shape with every number of parts") {
  using namespace convolve;
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  const auto contenders = winograd_contenders();
  REQUIRE(contenders.size() ==
          static_cast<std::size_t>(4 * kWinogradShapeCount + 3 * (kApartBlockCount + 6)));
  const auto apart = [&](const char* name, const char* label) {
    const auto its = std::find_if(contenders.begin(), contenders.end(),
                                  [&](const Contender& one) { return one.variant == name; });
    REQUIRE(its != contenders.end());
    const Offer offer = its->offer(conv::parse_label(label), h200);
    REQUIRE(offer.refusal.empty());
    return offer.work;
  };
  // In three kernels: 36 frequencies. 70 filters are two blocks of 64, two images of 4 x 4 tiles are one.
  const LaunchWork large = apart("winograd_apart_4x4_64x64", "14-2-3-70-64");
  CHECK(large.launches == 3);
  CHECK(large.blocks == 2 * 36);
  CHECK(large.resident == 5);
  CHECK(large.steps == 2);
  CHECK(large.cluster == 1);
  // 7 x 7 tiles an image, 100 with what fills them up, are seven blocks of 16; of 16 frequencies.
  CHECK(apart("winograd_apart_2x2_64x16", "14-2-3-70-64").blocks == 2 * 7 * 16);
  CHECK(apart("winograd_apart_3x3_32x64", "14-2-4-70-64").blocks == 3 * 1 * 36);
  // On tensor cores all SMs have blocks, and these turns: of 36 * 2 tiles of 128 filters one, and 16 of 2 * 4 one.
  const LaunchWork split = apart("winograd_split_4x4_32", "14-2-3-130-64");
  CHECK(split.launches == 3);
  CHECK(split.blocks == 36 * 2);
  CHECK(split.steps == 2 + 1);
  CHECK(apart("winograd_split_2x2_32", "14-2-3-130-64").blocks == 16 * 2 * 4);
  for (const Contender& contender : contenders) {
    CHECK(contender.tensor_cores == contender.variant.starts_with("winograd_split"));
    if (contender.variant.find("apart") != std::string::npos || contender.tensor_cores) continue;
    INFO(contender.variant);
    // 64 channels are 8 chunks or more.
    const char* const label =
        contender.variant.find("5x5") == std::string::npos ? "14-2-3-70-64" : "14-2-5-70-64";
    const Offer offer = contender.offer(conv::parse_label(label), h200);
    REQUIRE(offer.refusal.empty());
    CHECK_FALSE(contender.offer(conv::parse_label("14-2-1-70-64"), h200).refusal.empty());
    const LaunchWork& work = offer.work;
    const char parts = contender.variant.back();
    CHECK(work.cluster == parts - '0');
    CHECK(work.steps * work.cluster >= 8);
    CHECK(work.megabytes > 0);
  }
  CHECK(contenders.front().variant == winograd_name(0, 1));
  CHECK(winograd_name(0, 2) == "winograd_4x4_k64_t16_p2");
}
