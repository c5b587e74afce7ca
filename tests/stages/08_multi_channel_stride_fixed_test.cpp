#include "stages/08_multi_channel_stride_fixed.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/planning/winograd_plan.hpp"
#include "stages/08_multi_channel_stride_fixed/search.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using halo::multi_channel_stride_fixed::kBestBlock;
using halo::multi_channel_stride_fixed::winograd_apart_within;
using halo::planning::kMostTemporaries;
using halo::test::contains;
using halo::test::message_of;

namespace {

Conv2dStage stage() { return multi_channel_stride_fixed::stage(); }

// What the method is about, small: channels that end in the middle of a segment, several groups of
// filters, tiles of several rows and of a piece of a row, both strides.
std::vector<conv::ConvLayer> layers() {
  return {
      conv::ConvLayer(
          {.C = 24, .H = 7, .W = 7, .K = 70, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
      conv::ConvLayer({.C = 33, .H = 7, .W = 7, .K = 140, .R = 1, .S = 1}),
      conv::ConvLayer({.N = 2,
                       .C = 9,
                       .H = 14,
                       .W = 14,
                       .K = 20,
                       .R = 5,
                       .S = 5,
                       .padding_h = 2,
                       .padding_w = 2}),
      conv::ConvLayer({.C = 3, .H = 5, .W = 300, .K = 17, .R = 3, .S = 5, .stride_w = 2}),
      conv::ConvLayer({.C = 5,
                       .H = 20,
                       .W = 20,
                       .K = 9,
                       .R = 2,
                       .S = 2,
                       .stride_h = 3,
                       .stride_w = 4,
                       .padding_h = 3,
                       .padding_w = 5}),
      // Strides that step over far more than fits.
      conv::ConvLayer({.C = 3,
                       .H = 2,
                       .W = 3,
                       .K = 2,
                       .R = 1,
                       .S = 1,
                       .stride_h = 50,
                       .stride_w = 70,
                       .padding_h = 100,
                       .padding_w = 100}),
  };
}

// For Winograd's method: tiles that end within the map and beyond it, channels in several parts, ghost cells on
// one side only, filters and tiles of several blocks. For the others they are only many products.
std::vector<conv::ConvLayer> winograd_layers() {
  return {
      conv::ConvLayer({.N = 3,
                       .C = 41,
                       .H = 9,
                       .W = 18,
                       .K = 66,
                       .R = 3,
                       .S = 3,
                       .padding_h = 1,
                       .padding_w = 1}),
      conv::ConvLayer({.N = 2, .C = 17, .H = 12, .W = 30, .K = 40, .R = 3, .S = 3}),
      conv::ConvLayer({.N = 2,
                       .C = 35,
                       .H = 6,
                       .W = 13,
                       .K = 65,
                       .R = 5,
                       .S = 5,
                       .padding_h = 4,
                       .padding_w = 1}),
  };
}

// For Winograd's method in three kernels: 3, 4 and 5 taps of each phase, taps that some phases do not have, ghost
// cells, strides that differ.
std::vector<conv::ConvLayer> strided_layers() {
  return {
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

// 32 pixels of 8 channels, 16 filters of one tap a channel.
conv::ConvLayer row_of_pixels() {
  return conv::ConvLayer({.C = 8, .H = 1, .W = 32, .K = 16, .R = 1, .S = 1});
}

// Small layers get small tiles of registers. The same with large ones, and with those of 16 filters, of which there
// is none for layers of few channels.
Conv2dVariant with_other_tiles() {
  const std::vector<Conv2dVariant> searched = multi_channel_stride_fixed::search_tiles();
  const auto named = [](const std::vector<Conv2dVariant>& variants, const std::string& name) {
    return *std::find_if(variants.begin(), variants.end(),
                         [&](const Conv2dVariant& variant) { return variant.name == name; });
  };
  const Conv2dVariant planned = named(stage().variants, "register_tile");
  const Conv2dVariant large = named(searched, "register_tile_64x128_8x8_p1");
  const Conv2dVariant narrow = named(searched, "register_tile_16x128_4x4_p3");
  const auto one_of = [=](const conv::ConvLayer& layer) {
    return layer.K() <= 16 ? narrow : large;
  };
  Conv2dVariant variant = planned;
  variant.name = "register_tile_others";
  variant.refuses = narrow.refuses;
  variant.tiles = [](const conv::ConvLayer&) {
    constexpr int kSome = 17;  // one less, a segment, is taken too
    constexpr int kQuads = 8;  // pixels, of one image or of two: so a map is whole quads
    return std::vector<TileSizes>{
        {.C = kSome, .K = 64, .cells = kQuads}, {.C = kSome, .K = 16}, {.C = 2 * kSome, .K = 4}};
  };
  variant.launch = [=](const Conv2dCall& call) { return one_of(call.layer).launch(call); };
  variant.predict = [=](const conv::ConvLayer& layer) { return one_of(layer).predict(layer); };
  variant.predict_bias = [=](const conv::ConvLayer& layer) {
    return one_of(layer).predict_bias(layer);
  };
  variant.detail = nullptr;
  return variant;
}

}  // namespace

TEST_CASE("08_multi_channel_stride_fixed: every layer is right, without hazards") {
  Conv2dStage all = stage();
  all.variants.push_back(with_other_tiles());
  // Small layers get the smallest blocks of products.
  all.variants.push_back(winograd_apart_within(kMostTemporaries, 0));
  all.variants.back().name = "winograd_apart_large";
  test::require_trials_of_all_lines(all);
}

TEST_CASE("08_multi_channel_stride_fixed: traffic is as predicted") {
  Conv2dStage by_definition = stage(), by_winograd = stage();
  const auto is_winograd = [](const Conv2dVariant& variant) {
    return variant.name.starts_with("winograd_");
  };
  // Both sizes of Fourier's tiles have tests of their own.
  const auto is_fourier = [](const Conv2dVariant& variant) {
    return variant.name.starts_with("fourier");
  };
  CHECK(std::erase_if(by_definition.variants, is_winograd) == 4);
  CHECK(std::erase_if(by_definition.variants, is_fourier) == 3);
  std::erase_if(by_winograd.variants, std::not_fn(is_winograd));
  test::require_traffic(by_definition, layers());
  std::vector<conv::ConvLayer> both = layers();
  const std::vector<conv::ConvLayer> more = winograd_layers();
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

TEST_CASE(
    "08_multi_channel_stride_fixed: the tiles of registers of the search are right and as "
    "predicted",
    "[all]") {
  Conv2dStage searched;
  searched.name = "search";
  searched.variants = multi_channel_stride_fixed::search_tiles();
  // Each shape by itself, and most of them with two or three blocks for a tile.
  std::erase_if(searched.variants, [](const Conv2dVariant& variant) {
    return variant.name.back() != '1' && variant.name.back() != '2' && variant.name.back() != '3';
  });
  REQUIRE(searched.variants.size() == 8 + 6);
  test::require_traffic(
      searched,
      {// Fewer channels than a segment has: one segment that is not full; several, that begin in the middle of a
       // filter's row, with ghost cells, a stride and tiles that are not full.
       conv::ConvLayer({.C = 3, .H = 8, .W = 8, .K = 6, .R = 1, .S = 1}),
       conv::ConvLayer({.N = 2,
                        .C = 3,
                        .H = 21,
                        .W = 18,
                        .K = 101,
                        .R = 5,
                        .S = 7,
                        .stride_h = 2,
                        .padding_h = 1,
                        .padding_w = 3}),
       // Several tiles of some shapes either way, 32 + 8 channels, a stride, maps of odd size.
       conv::ConvLayer({.N = 2, .C = 40, .H = 13, .W = 9, .K = 70, .R = 1, .S = 2, .stride_w = 2}),
       // Quads of pixels, and filters that end within a tile.
       conv::ConvLayer({.N = 3, .C = 53, .H = 6, .W = 6, .K = 37, .R = 1, .S = 1}),
       // Ghost cells; stores of quads where one block has a tile.
       conv::ConvLayer(
           {.C = 16, .H = 8, .W = 8, .K = 20, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1})});
}

TEST_CASE(
    "08_multi_channel_stride_fixed: every shape of Winograd's method is right and as predicted",
    "[all]") {
  Conv2dStage searched = stage();
  searched.variants = std::move(searched.searched);
  std::erase_if(searched.variants, [](const Conv2dVariant& variant) {
    return !variant.name.starts_with("winograd_") || variant.name.ends_with("_p2");
  });
  CHECK(searched.variants.size() == 5 * 3);
  // 67 channels are 9 chunks or 17, in 8 parts that differ.
  test::require_traffic(
      searched,
      {conv::ConvLayer(
           {.C = 67, .H = 9, .W = 14, .K = 66, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
       conv::ConvLayer(
           {.C = 67, .H = 7, .W = 6, .K = 33, .R = 5, .S = 5, .padding_h = 2, .padding_w = 2})});
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

TEST_CASE("08_multi_channel_stride_fixed: the cost of a tile of registers, by hand") {
  // 64 pixels and 32 filters of 32 channels: two segments of 16.
  const conv::ConvLayer layer({.C = 32, .H = 8, .W = 8, .K = 32, .R = 1, .S = 1});
  Conv2dStage searched;
  searched.name = "search";
  searched.variants = multi_channel_stride_fixed::search_tiles();

  // A block of 128 threads with 4 x 4 outputs each. Filters: 32 channels of 32, a quad a lane. Pixels: 32
  // channels of 64, a quad a lane. Each of four warps reads, for each channel, a quad of filters and one of
  // pixels a lane, in two passes each.
  const auto alone = test::predict(searched, "register_tile_32x64_4x4_p1", layer);
  CHECK(alone.global_load_requests == 32 * 32 / 128 + 32 * 64 / 128);
  CHECK(alone.global_load_sectors == (32 * 32 + 32 * 64) / 8);
  CHECK(alone.shared_store_wavefronts == (32 * 32 + 32 * 64) / 32);
  CHECK(alone.shared_load_requests == 4 * 32 * 2);
  CHECK(alone.shared_load_wavefronts == 4 * 32 * 2 * 2);
  CHECK(alone.shared_load_conflicts == 0);
  CHECK(alone.global_store_requests == 32 * 64 / 128);
  CHECK(alone.global_store_sectors == 32 * 64 / 8);
  CHECK(alone.barriers == 1 + 2);
  CHECK(alone.dshared_store_requests == 0);

  // Two blocks, a segment each. All sums are sent to the block that adds them up, a quad a lane; of its half of the rows
  // it reads both parts, 32 pixels a request.
  const auto shared = test::predict(searched, "register_tile_32x64_4x4_p2", layer);
  CHECK(shared.global_load_sectors == alone.global_load_sectors);
  CHECK(shared.shared_store_wavefronts == alone.shared_store_wavefronts);
  CHECK(shared.dshared_store_requests == 2 * 32 * 64 / 128);
  CHECK(shared.dshared_store_sectors == 2 * 32 * 64 / 8);
  CHECK(shared.shared_load_requests == alone.shared_load_requests + 2 * 32 * 64 / 32);
  CHECK(shared.dshared_load_requests == 0);
  CHECK(shared.global_store_sectors == alone.global_store_sectors);
  CHECK(shared.barriers == 2 * (1 + 1 + 1));
}

TEST_CASE("08_multi_channel_stride_fixed: the cost of Winograd's method, by hand") {
  // 2 x 2 tiles of 4 x 4 outputs, one block of 32 filters, one chunk of 4 channels.
  const conv::ConvLayer layer(
      {.C = 4, .H = 8, .W = 8, .K = 32, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto cost = test::predict(stage(), "winograd_4x4", layer);
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

TEST_CASE("08_multi_channel_stride_fixed: Winograd's method in three kernels, slice by slice",
          "[all]") {
  Conv2dStage sliced = stage();
  // 41 and 66 channels of 3 x 5 tiles, and 35 and 65 of 4 x 5: one image at a time; of 17 and 40 both.
  sliced.variants = {winograd_apart_within(80'000, kBestBlock)};
  test::require_traffic(sliced, winograd_layers());
  for (int block = 0; block < 2; ++block) {
    sliced.variants = {winograd_apart_within(kMostTemporaries, block)};
    test::require_traffic(sliced, winograd_layers());
  }
  sliced.variants = {winograd_apart_within(100'000, kBestBlock)};
  test::require_traffic(sliced, strided_layers());

  // One image of 2 x 2 tiles, 4 channels, 32 filters: a lane a tile, of 36 numbers each.
  const conv::ConvLayer layer(
      {.C = 4, .H = 8, .W = 8, .K = 32, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto cost = test::predict(stage(), "winograd_apart", layer);
  // Of a patch all but the ghost cells, each cell a request for all four tiles. Then the products read a row of 32
  // filters (8 lanes) and of 4 tiles (one lane) of each channel, in rows of 16 lanes; then the sums.
  const std::uint64_t patches = 4 * 36, filters = 36 * 4 / 2, tiles = 36 * 4 / 2, sums = 36 * 32;
  CHECK(cost.global_load_requests == patches + filters + tiles + sums);
  CHECK(cost.global_store_requests == 36 * 4 + 36 * 8 + 32 * 4);
  CHECK(cost.barriers == 36);
}

TEST_CASE("08_multi_channel_stride_fixed: Fourier's transform, both tiles, blocks and slices",
          "[all]") {
  Conv2dStage fourier;
  fourier.name = "fourier";
  // Of three images two at a time, of two one.
  for (const int size : {16, 32}) {
    fourier.variants.push_back(multi_channel_stride_fixed::fourier_within(size, 5'000'000));
  }
  std::vector<conv::ConvLayer> layers = winograd_layers();
  // Filters of half a tile, higher than wide; padding wider than the map; taps in a row.
  layers.push_back(conv::ConvLayer({.N = 2, .C = 3, .H = 20, .W = 17, .K = 5, .R = 8, .S = 3}));
  layers.push_back(conv::ConvLayer(
      {.C = 2, .H = 3, .W = 2, .K = 33, .R = 1, .S = 4, .padding_h = 5, .padding_w = 6}));
  layers.push_back(conv::ConvLayer({.C = 5, .H = 9, .W = 40, .K = 3, .R = 1, .S = 2}));
  test::require_traffic(fourier, layers);

  // Blocks of 64 filters and 64 tiles: 4 of 16 x 16 cells an image, 16 of 32 x 32.
  Conv2dStage large = fourier;
  large.variants = {multi_channel_stride_fixed::fourier_within(16, std::int64_t{1} << 28)};
  CHECK_THAT(large.variants[0].detail(conv::parse_label("28-13-3-64-17")), contains("64 filters"));
  test::require_traffic(large, {conv::parse_label("28-13-3-64-17")});
}

TEST_CASE("08_multi_channel_stride_fixed: the cost of Fourier's transform, by hand") {
  const conv::ConvLayer layer({.H = 14, .W = 14, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const auto cost = test::predict(stage(), "fourier", layer);
  // One tile, of which 14 rows exist; 130 frequencies, of the filter and of the tile a row each, which is 16 complex
  // numbers; the sums of 16 tiles, 32 a request.
  CHECK(cost.global_load_requests == 14 + 130 * 2 + 130 * 16 / 32);
  CHECK(cost.global_store_requests == 130 * 16 / 32 + 130 + 14);
  CHECK(cost.shared_load_conflicts == 0);
  CHECK(cost.shared_store_conflicts == 0);
  CHECK(cost.barriers == 2 + 130 + 2);
}

TEST_CASE("08_multi_channel_stride_fixed: Fourier's products on tensor cores, blocks and slices",
          "[all]") {
  Conv2dStage split;
  split.name = "fourier_split";
  for (const int size : {16, 32}) {
    split.variants.push_back(multi_channel_stride_fixed::fourier_split_within(size, 2'000'000));
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
  large.variants = {multi_channel_stride_fixed::fourier_split_within(16, std::int64_t{1} << 28)};
  CHECK_THAT(large.variants[0].detail(conv::parse_label("28-17-3-64-5")), contains("64 filters"));
  test::require_traffic(large, {conv::parse_label("28-17-3-64-5")});
}

TEST_CASE(
    "08_multi_channel_stride_fixed: the cost of Fourier's products on tensor cores, by hand") {
  const conv::ConvLayer layer({.H = 14, .W = 14, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  test::counting_backend();
  const Cost cost = test::variant_of(stage(), "fourier_split").predict(layer);
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
    "08_multi_channel_stride_fixed: Fourier's products on tensor cores lose no more than float's "
    "may",
    "[all]") {
  // Positive factors, whose roundings towards zero add up, as do the sums that are cut off.
  const conv::ConvLayer layer(
      {.C = 64, .H = 14, .W = 14, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  std::mt19937_64 random(test::seed());
  const auto positive = [&](std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = 1 + static_cast<float>(random() % (1 << 23)) * 0x1p-23f;
    return values;
  };
  const std::vector<float> input = positive(layer.input_size());
  const std::vector<float> filters = positive(layer.filters_size());
  const auto backend = test::usable_backend();
  const Conv2dVariant variant = test::variant_of(stage(), "fourier_split");
  if (!variant.refuses(layer).empty()) test::skip(variant.refuses(layer));
  CHECK(variant.demand == conv::Demand::transformed_split);
  Array on_input(*backend, input.size());
  Array on_filters(*backend, filters.size());
  Array packed(*backend, static_cast<std::size_t>(variant.packed_floats(layer)));
  Array workspace(*backend, static_cast<std::size_t>(variant.workspace_floats(layer)));
  Array output(*backend, static_cast<std::size_t>(layer.output_size()));
  on_input.write(input);
  on_filters.write(filters);
  const Observation packing =
      backend->run([&] { return variant.pack(on_filters.data(), packed.data(), layer); });
  CHECK(packing.error.empty());
  const Observation seen = backend->run([&] {
    return variant.launch({.layer = layer,
                           .input = on_input.data(),
                           .filters = on_filters.data(),
                           .output = output.data(),
                           .workspace = workspace.data(),
                           .packed = packed.data()});
  });
  CHECK(seen.error.empty());
  std::vector<float> found(output.size());
  output.read(found);
  const conv::Comparison as_float =
      conv::check(layer, input, filters, found, conv::Demand::transformed);
  CHECK(as_float.passed());
  // And nowhere near it. One part of a factor, or two products of three, would be off by 2^-12 of the sums, as much as
  // four thousand roundings.
  CHECK(as_float.worst_share < 0.01);
}

TEST_CASE("08_multi_channel_stride_fixed: what does not fit is refused, in words") {
  test::usable_backend();  // what fits is the device's to say
  // 70,000 taps of one filter, or 70,000 channels of one pixel, are 280,000 bytes.
  const conv::ConvLayer deep({.C = 70'000, .H = 2, .W = 2, .K = 2, .R = 1, .S = 1});
  const conv::ConvLayer wide({.H = 1, .W = 80'000, .K = 2, .R = 1, .S = 70'000});
  for (const Conv2dVariant& variant : stage().variants) {
    INFO(variant.name);
    if (variant.name == "outer_product") {
      CHECK(!variant.refuses);  // a segment is one tap of 16 channels, whatever the layer
      continue;
    }
    if (variant.name == "winograd_f2") {
      CHECK_THAT(variant.refuses(deep), contains("3 x 3 filters"));
      continue;
    }
    if (variant.name == "fourier_tile") {
      CHECK_THAT(variant.refuses(deep), contains("more than 2^30 floats"));
      CHECK_THAT(variant.refuses(wide), contains("filters of up to 16 x 16"));
      continue;
    }
    if (variant.name.starts_with("winograd")) {
      CHECK_THAT(variant.refuses(deep), contains("filters of"));
      continue;
    }
    if (variant.name.starts_with("fourier")) {
      CHECK_THAT(variant.refuses(deep), contains("single tap"));
      CHECK_THAT(variant.refuses(wide), contains("filters of 16 x 16 at most"));
      continue;
    }
    const bool whole = variant.name == "filters_divided" || variant.name == "maps_divided";
    CHECK(variant.refuses(deep).empty() == !whole);
    if (whole) CHECK_THAT(variant.refuses(deep), contains("bytes of shared memory"));
    if (variant.name == "register_tile") {
      CHECK(variant.refuses(wide).empty());
      continue;
    }
    CHECK_THAT(variant.refuses(wide), contains("bytes of shared memory"));
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
