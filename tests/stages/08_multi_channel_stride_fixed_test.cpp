#include "stages/08_multi_channel_stride_fixed.hpp"

#include <functional>
#include <string>
#include <vector>

#include "stages/08_multi_channel_stride_fixed/search.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/tiled_layers.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using halo::test::contains;
using halo::test::message_of;

namespace {

Conv2dStage stage() { return multi_channel_stride_fixed::stage(); }

// What the method is about, small: channels that end in the middle of a segment, several groups of
// filters, tiles of several rows and of a piece of a row, both strides.
std::vector<conv::ConvLayer> layers() {
  return {
      conv::parse_label("7-1-3-70-24"),
      conv::parse_label("7-1-1-140-33"),
      conv::parse_label("14-2-5-20-9"),
      conv::parse_label("5x300-1-3x5-17-3-s1x2-p0"),
      conv::parse_label("20-1-2-9-5-s3x4-p3x5"),
      // Strides that step over far more than fits.
      conv::parse_label("2x3-1-1-2-3-s50x70-p100"),
  };
}

// 32 pixels of 8 channels, 16 filters of one tap a channel.
conv::ConvLayer row_of_pixels() { return conv::parse_label("1x32-1-1-16-8"); }

}  // namespace

TEST_CASE("08_multi_channel_stride_fixed: every layer is right, without hazards") {
  Conv2dStage all = stage();
  test::require_trials_of_all_lines(all);
}

TEST_CASE("08_multi_channel_stride_fixed: traffic is as predicted") {
  Conv2dStage by_definition = test::own(stage()), by_winograd = by_definition;
  const auto is_winograd = [](const Conv2dVariant& variant) {
    return variant.name.starts_with("winograd_");
  };
  CHECK(std::erase_if(by_definition.variants, is_winograd) == 1);
  std::erase_if(by_winograd.variants, std::not_fn(is_winograd));
  test::require_traffic(by_definition, layers());
  std::vector<conv::ConvLayer> both = layers();
  const std::vector<conv::ConvLayer> more = test::tiled_layers();
  both.insert(both.end(), more.begin(), more.end());
  test::require_traffic(by_winograd, both);
}

TEST_CASE("08_multi_channel_stride_fixed: the divisions of the search are right and as predicted",
          "[all]") {
  for (const int bytes : {32, 64}) {
    Conv2dStage searched;
    searched.name = "search";
    searched.variants = multi_channel_stride_fixed::search(bytes);
    CHECK(searched.variants.size() == 15);
    const std::string start = "stride_fixed_" + std::to_string(bytes);
    // The smallest, the most pixels, the most filters: the others lie between them.
    std::erase_if(searched.variants, [&](const Conv2dVariant& variant) {
      return variant.name != start + "_w32_m16" && variant.name != start + "_w256_m64" &&
             variant.name != start + "_w128_m128";
    });
    REQUIRE(searched.variants.size() == 3);
    test::require_traffic(searched);
  }
  CHECK_THAT(message_of([] { multi_channel_stride_fixed::search(128); }),
             contains("32 or 64 bytes"));
}

TEST_CASE("08_multi_channel_stride_fixed: the cost of one small layer, by hand") {
  const conv::ConvLayer layer = row_of_pixels();

  // One block of 32 pixels and 16 filters, one round. Filters: 4 requests, each 4 whole segments.
  // Maps: 8 lines of 128 bytes. Reads of shared memory: 8 pixels, 16 filters of two float4 each,
  // which take two passes for 32 lanes.
  const auto fixed = test::predict(stage(), "stride_fixed_32", layer);
  CHECK(fixed.global_load_requests == 4 + 8);
  CHECK(fixed.global_load_sectors == 4 * 4 + 8 * 4);
  CHECK(fixed.shared_store_requests == 12);
  CHECK(fixed.shared_store_wavefronts == 12);
  CHECK(fixed.shared_load_requests == 8 + 32);
  CHECK(fixed.shared_load_wavefronts == 8 + 2 * 32);
  CHECK(fixed.shared_load_conflicts == 0);
  CHECK(fixed.global_store_requests == 16);
  CHECK(fixed.global_store_sectors == 16 * 4);
  CHECK(fixed.barriers == 1);

  // A segment of one tap: a sector for each of the 16 filters, and 8 times that.
  const auto filter = test::predict(stage(), "block_filter", layer);
  CHECK(filter.global_load_requests == 8 * 1 + 8);
  CHECK(filter.global_load_sectors == 8 * 16 + 8 * 4);
  CHECK(filter.barriers == 8);
}

TEST_CASE("08_multi_channel_stride_fixed: the cost of the other divisions, by hand") {
  const conv::ConvLayer layer = row_of_pixels();

  // A GPU of more than 32 SMs deals out single channels, single filters and single pixels.
  // Eight parts: one tap of 16 filters, which is a sector each, and one line; then 512 sums each,
  // and 512 outputs.
  const auto channels = test::predict(stage(), "channels_divided", layer);
  CHECK(channels.global_load_requests == 8 * (1 + 1) + 8 * 16);
  CHECK(channels.global_load_sectors == 8 * (16 + 4) + 8 * 16 * 4);
  CHECK(channels.global_store_sectors == 8 * 16 * 4 + 16 * 4);

  // 16 blocks with one filter, one sector, and all 8 lines.
  const auto filters = test::predict(stage(), "filters_divided", layer);
  CHECK(filters.global_load_requests == 16 * (1 + 8));
  CHECK(filters.global_load_sectors == 16 * (1 + 32));
  CHECK(filters.global_store_sectors == 16 * 4);

  // 32 blocks with one pixel: a cell of each channel in one request of 8 sectors, and all filters.
  const auto maps = test::predict(stage(), "maps_divided", layer);
  CHECK(maps.global_load_requests == 32 * (1 + 4));
  CHECK(maps.global_load_sectors == 32 * (8 + 16));
  CHECK(maps.global_store_sectors == 32 * 16);
}

TEST_CASE("08_multi_channel_stride_fixed: what does not fit is refused, in words") {
  test::usable_backend();  // what fits is the device's to say
  // 70,000 taps of one filter, or 70,000 channels of one pixel, are 280,000 bytes.
  const conv::ConvLayer deep({.C = 70'000, .H = 2, .W = 2, .K = 2, .R = 1, .S = 1});
  const conv::ConvLayer wide({.H = 1, .W = 80'000, .K = 2, .R = 1, .S = 70'000});
  for (const Conv2dVariant& variant : stage().variants) {
    INFO(variant.name);
    if (variant.name == "outer_product") {
      CHECK(refusal(variant, deep) ==
            "");  // a segment is one tap of 16 channels, whatever the layer
      continue;
    }
    if (variant.name == "winograd_f2") {
      CHECK_THAT(refusal(variant, deep), contains("3 x 3 filters"));
      continue;
    }
    if (variant.name == "fourier_tile") {
      CHECK_THAT(refusal(variant, deep), contains("more than 2^30 floats"));
      CHECK_THAT(refusal(variant, wide), contains("filters of up to 16 x 16"));
      continue;
    }
    if (variant.name.starts_with("winograd")) {
      CHECK_THAT(refusal(variant, deep), contains("filters of"));
      continue;
    }
    if (variant.name.starts_with("fourier")) {
      CHECK_THAT(refusal(variant, deep), contains("single tap"));
      CHECK_THAT(refusal(variant, wide), contains("filters of 16 x 16 at most"));
      continue;
    }
    const bool whole = variant.name == "filters_divided" || variant.name == "maps_divided";
    CHECK(refusal(variant, deep).empty() == !whole);
    if (whole) CHECK_THAT(refusal(variant, deep), contains("bytes of shared memory"));
    if (variant.name == "register_tile") {
      CHECK(refusal(variant, wide).empty());
      continue;
    }
    CHECK_THAT(refusal(variant, wide), contains("bytes of shared memory"));
  }
}

TEST_CASE("08_multi_channel_stride_fixed: the plan in words") {
  const conv::ConvLayer layer(
      {.C = 512, .H = 28, .W = 28, .K = 512, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const std::string paper = stage().plan(layer, "gtx1080ti");
  CHECK_THAT(paper, contains("GTX 1080 Ti"));
  CHECK_THAT(paper, contains("65,536 < N_FMA = 66,048"));
  CHECK_THAT(paper, contains("65,536 >= N_FMA = 33,024"));
  CHECK_THAT(paper, contains("131,072 >= N_FMA = 66,048"));
  CHECK_THAT(paper, contains("W'y = ceil(S / 4K) = 3; touched in truth: up to 4 lines of 2 maps"));
  CHECK_THAT(message_of([&] { stage().plan(layer, "nonesuch"); }), contains("gtx1080ti"));
}
