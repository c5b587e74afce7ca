#include "common/convolve/register_tile/register_tile.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "common/convolve/register_tile/plan.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// Small layers get small tiles of registers. The same with large ones, and with those of 16 filters, of which there
// is none for layers of few channels.
Conv2dVariant with_other_tiles() {
  const std::vector<Conv2dVariant> searched = convolve::register_tile_of_each_shape();
  const auto named = [&](const std::string& name) {
    return *std::find_if(searched.begin(), searched.end(),
                         [&](const Conv2dVariant& variant) { return variant.name == name; });
  };
  const Conv2dVariant large = named("register_tile_64x128_8x8_p1");
  const Conv2dVariant narrow = named("register_tile_16x128_4x4_p3");
  const auto one_of = [=](const ConvLayer& layer) { return layer.K() <= 16 ? narrow : large; };
  Conv2dVariant variant = convolve::register_tile();
  variant.name = "register_tile_others";
  variant.tiles = [](const ConvLayer&) {
    constexpr int kSome = 17;  // one less, a segment, is taken too
    constexpr int kQuads = 8;  // pixels, of one image or of two: so a map is whole quads
    return std::vector<TileSizes>{
        {.C = kSome, .K = 64, .cells = kQuads}, {.C = kSome, .K = 16}, {.C = 2 * kSome, .K = 4}};
  };
  variant.prepare = [=](const ConvLayer& layer) {
    auto prepared = one_of(layer).prepared(layer);
    prepared.name = "register_tile_others";
    prepared.refusal = refusal(narrow, layer);
    return prepared;
  };
  return variant;
}

}  // namespace

TEST_CASE("register_tile: trials reach all lines") {
  Conv2dStage both;
  both.name = "register_tile";
  both.variants = {convolve::register_tile(), with_other_tiles()};
  test::require_trials_of_all_lines(both, "common/convolve/register_tile/");
  test::require_traffic(both);
}

TEST_CASE("register_tile: the tiles of the search are right and as predicted", "[all]") {
  Conv2dStage searched;
  searched.name = "register_tile";
  searched.variants = convolve::register_tile_of_each_shape();
  // Each shape by itself, and most of them with two or three blocks for a tile.
  std::erase_if(searched.variants, [](const Conv2dVariant& variant) {
    return variant.name.back() != '1' && variant.name.back() != '2' && variant.name.back() != '3';
  });
  REQUIRE(searched.variants.size() == 8 + 6);
  test::require_traffic(
      searched,
      {// Fewer channels than a segment has: one segment that is not full; several, that begin in the middle of a
       // filter's row, with ghost cells, a stride and tiles that are not full.
       ConvLayer({.C = 3, .H = 8, .W = 8, .K = 6, .R = 1, .S = 1}),
       ConvLayer({.N = 2,
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
       ConvLayer({.N = 2, .C = 40, .H = 13, .W = 9, .K = 70, .R = 1, .S = 2, .stride_w = 2}),
       // Quads of pixels, and filters that end within a tile.
       ConvLayer({.N = 3, .C = 53, .H = 6, .W = 6, .K = 37, .R = 1, .S = 1}),
       // Ghost cells; stores of quads where one block has a tile.
       ConvLayer(
           {.C = 16, .H = 8, .W = 8, .K = 20, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1})});
}

TEST_CASE("register_tile: the cost of a layer, by hand") {
  // 64 pixels and 32 filters of 32 channels: two segments of 16.
  const ConvLayer layer({.C = 32, .H = 8, .W = 8, .K = 32, .R = 1, .S = 1});
  Conv2dStage searched;
  searched.name = "register_tile";
  searched.variants = convolve::register_tile_of_each_shape();

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

TEST_CASE("register_tile: contenders have names of their own, and count their work") {
  std::set<std::string> names;
  const ConvLayer layer({.N = 8, .C = 480, .H = 14, .W = 14, .K = 192, .R = 1, .S = 1});
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  for (const convolve::Contender& contender : convolve::register_tile_contenders()) {
    CHECK(names.insert(contender.variant).second);
    if (contender.variant.starts_with("register_tile_96x128")) continue;  // for few channels
    const convolve::Offer offer = contender.offer(layer, h200);
    CHECK(offer.refusal == "");
    CHECK(offer.work.blocks >= 13 * 2);
  }
  CHECK(names.size() == convolve::kRegisterContenders.size());
  CHECK(names.contains("register_tile_64x128_8x8_p2"));
  // 30 segments of 192 filters in tiles of 64, and 1,568 pixels in tiles of 128, shared by four.
  const auto work = convolve::work_of(layer, {.shape = 1, .parts = 4, .at_once = 4});
  CHECK(work.blocks == 3 * 13 * 4);
  CHECK(work.steps == 8);
  CHECK(work.cluster == 4);
  CHECK(work.resident == 3);
}
