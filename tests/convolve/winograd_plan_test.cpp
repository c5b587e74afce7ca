#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "common/convolve/winograd/plan.hpp"
#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using halo::conv::ConvLayer;
using halo::test::contains;

namespace {

gpus::GpuLimits h200() { return gpus::limits_of(gpus::built_in_gpu("h200")); }
ConvLayer layer(const char* label) { return halo::conv::parse_label(label); }

}  // namespace

TEST_CASE("winograd: a layer by hand") {
  // 14 x 14 outputs are 4 x 4 tiles of 4 x 4, one block of 16; 130 filters are 3 blocks of 64, 20 channels 3
  // chunks of 8.
  const WinogradPlan plan = exact_winograd(layer("14-1-3-130-20"), 0, 2, h200());
  REQUIRE(plan.refusal.empty());
  const WinogradDivision& d = plan.division;
  CHECK(d.shape == 0);
  CHECK(d.tiles_down == 4);
  CHECK(d.tiles_across == 4);
  CHECK(d.tiles == 16);
  CHECK(d.groups == 3);
  CHECK(d.chunks == 3);
  CHECK(d.parts == 2);
  CHECK(plan.blocks == 1 * 3 * 2);
  CHECK(plan.threads == 384);
  CHECK(plan.packed_floats == 36 * 192 * 24);
  // Two chunks of filters, inputs and patches: 36 * 8 * (64 + 16 + 16) floats each. And a barrier.
  CHECK(plan.shared_bytes == 4 * 2 * 36 * 8 * 96 + 8);
}

TEST_CASE("winograd: what it refuses") {
  CHECK_THAT(exact_winograd(layer("14-1-3-8-8-s2"), 0, 1, h200()).refusal, contains("stride 1"));
  CHECK_THAT(exact_winograd(layer("14-1-5-8-8"), 0, 1, h200()).refusal, contains("3 x 3"));
  CHECK_THAT(exact_winograd(layer("14-1-3x5-8-8"), 0, 1, h200()).refusal, contains("3 x 3"));
  CHECK_THAT(exact_winograd(layer("14-1-3-8-8"), 0, 2, h200()).refusal, contains("2 parts"));
  CHECK_THAT(exact_winograd(layer("14-1-3-8-80"), 0, 3, h200()).refusal, contains("3 parts"));
  CHECK_THAT(exact_winograd(layer("14-1-3-8-800"), 0, 16, h200()).refusal, contains("16 parts"));
  CHECK_THAT(exact_winograd(layer("14-1-3-8-8"), 0, 1, {132, 65536, 49152, 90}).refusal,
             contains("shared memory"));
  // 36 numbers in place of 9.
  CHECK_THAT(exact_winograd(layer("4-1-3-14000-14000"), 0, 1, h200()).refusal,
             contains("transformed filters"));
  CHECK_THROWS_AS(exact_winograd(layer("14-1-3-8-8"), kWinogradShapeCount, 1, h200()),
                  std::out_of_range);
  CHECK_THAT(plan_winograd(layer("14-1-1-8-8"), 4, h200()).refusal, contains("filters of 3 x 3"));
  CHECK_THAT(plan_winograd(layer("14-1-3x5-8-8"), 2, h200()).refusal, contains("5 x 5 or 3 x 3"));
  CHECK_THAT(plan_winograd(layer("14-1-5-8-8-s2"), 2, h200()).refusal, contains("stride 1"));
}

TEST_CASE("winograd: channels are divided where there are SMs for them") {
  // 16 tiles and 8 blocks of filters leave most of 132 SMs idle.
  CHECK(plan_winograd(layer("14-1-3-512-512"), 4, h200()).division.parts == 8);
  CHECK(plan_winograd(layer("56-32-3-256-256"), 4, h200()).division.parts == 1);
  for (const char* label : {"14-1-3-512-512", "56-1-3-64-64", "7-1-5-48-128", "28-8-3-128-96"}) {
    for (const int outputs : {2, 4}) {
      const WinogradPlan plan = plan_winograd(layer(label), outputs, h200());
      if (!plan.refusal.empty()) continue;
      CHECK(plan.division.parts <= plan.division.chunks);
      CHECK(plan.shared_bytes <= h200().shared_per_block);
      CHECK(kWinogradShapes[plan.division.shape].outputs == outputs);
    }
  }
}

TEST_CASE("winograd: in three kernels, an image a slice at least") {
  // 12 x 10 outputs: 3 x 3 tiles an image, 27 of three, 28 with what fills up the last piece.
  const ApartPlan plan = plan_winograd_apart(layer("12x10-3-3-130-20"), h200());
  REQUIRE(plan.refusal.empty());
  CHECK(plan.division.tiles_down == 3);
  CHECK(plan.division.tiles_across == 3);
  CHECK(plan.division.images == 3);
  CHECK(plan.division.tile_pitch == 28);
  CHECK(plan.division.filter_pitch == 132);
  CHECK(plan.packed_floats == 36 * 20 * 132);
  CHECK(plan.workspace_floats == 36 * (20 + 130) * 28);
  // Two images at a time are 18 tiles, 20 with the last piece: 108,000 floats. Three slices would be less each.
  CHECK(plan_winograd_apart(layer("12x10-3-3-130-20"), h200(), 108'000).division.images == 2);
  CHECK(plan_winograd_apart(layer("12x10-3-3-130-20"), h200(), 107'999).division.images == 1);
  CHECK_THAT(plan_winograd_apart(layer("12x10-3-3-130-20"), h200(), 36 * 150 * 12 - 1).refusal,
             contains("one image"));
}

TEST_CASE("winograd: on tensor cores, filters in whole 128s and tiles in whole blocks") {
  // 4 x 4 tiles an image, 32 of two; 130 filters are 256 to the products.
  const WinogradSplitPlan plan = exact_winograd_split(layer("14-2-3-130-40"), {64}, h200());
  REQUIRE(plan.refusal.empty());
  CHECK(plan.division.filter_pitch == 256);
  CHECK(plan.division.tile_pitch == 32);
  CHECK(plan.packed_floats == 36 * 40 * 256);
  CHECK(plan.products.tiles.count == 36 * 2);
  CHECK(plan.products.tiles.pieces == 2);
  CHECK(plan.products.pixels_by == WarpgroupPixelsBy::matrices);
  // Inputs in two parts, 64 tiles and 64 channels; and the sums of 32 tiles.
  CHECK(plan.workspace_floats == 36 * (2 * 64 * 64 + 32 * 256));
  CHECK(plan.products.packed_floats == 36 * 2 * 64 * 64);
  const std::int64_t one = 36 * (2 * 64 * 64 + 16 * 256);
  CHECK(exact_winograd_split(layer("14-2-3-130-40"), {64}, h200(), one).division.images == 1);
  CHECK_THAT(exact_winograd_split(layer("14-2-3-130-40"), {64}, h200(), one - 1).refusal,
             contains("one image"));
  // 196 tiles: three blocks of 80 waste less than two of 128, and are fewer turns than four of 64.
  CHECK(plan_winograd_split(layer("56-1-3-256-256"), h200()).products.tile.filters == 80);
  CHECK(plan_winograd_split(layer("56-32-3-256-256"), h200()).products.tile.filters == 128);
  CHECK_THAT(plan_winograd_split(layer("14-1-3-8-8-g2"), h200()).refusal, contains("one group"));
  CHECK_THAT(plan_winograd_split(layer("14-1-1-8-8"), h200()).refusal, contains("filters of 3"));
  gpus::GpuLimits older = h200();
  older.capability = 80;
  CHECK_THAT(plan_winograd_split(layer("14-1-3-8-8"), older).refusal, contains("wgmma"));
}

TEST_CASE("winograd: in three kernels, strides are phases, as many channels more") {
  const auto shape_of = [](const char* label) {
    const ApartPlan plan = plan_winograd_apart(layer(label), h200());
    REQUIRE(plan.refusal.empty());
    const ApartShape& shape = kApartShapes[plan.division.shape];
    return std::tuple(shape.outputs, shape.taps, plan.division.channels);
  };
  CHECK(shape_of("12-3-3-8-8") == std::tuple(4, 3, 8));
  CHECK(shape_of("12-3-4-8-8") == std::tuple(3, 4, 8));
  CHECK(shape_of("12-3-5-8-8") == std::tuple(2, 5, 8));
  CHECK(shape_of("19-3-5-8-8-s2") == std::tuple(4, 3, 4 * 8));
  CHECK(shape_of("19-3-7-8-8-s2") == std::tuple(3, 4, 4 * 8));
  CHECK(shape_of("31-3-11-8-3-s4") == std::tuple(4, 3, 16 * 3));
  // 26 x 26 outputs are 7 x 7 tiles, whatever the stride.
  const ApartPlan plan = plan_winograd_apart(layer("55-64-5-256-96-s2-p0"), h200());
  CHECK(plan.division.tiles_down == 7);
  CHECK(plan.workspace_floats == 36 * (4 * 96 + 256) * 49 * std::int64_t{plan.division.images});
  CHECK_THAT(plan_winograd_apart(layer("12-3-5-8-8"), h200(), kMostTemporaries, 0, 4).refusal,
             contains("filters of 3 strides"));
  CHECK_THAT(plan_winograd_apart(layer("12-3-4-8-8"), h200(), kMostTemporaries, 0, 2).refusal,
             contains("filters of 3 or 5 strides"));
  for (const char* const other : {"12-3-1-8-8", "12-3-3-8-8-s2", "12-3-3x5-8-8", "12-3-6-8-8"}) {
    CHECK_THAT(plan_winograd_apart(layer(other), h200()).refusal,
               contains("filters of 3, 4 or 5 strides"));
  }
}

TEST_CASE("winograd: in three kernels, a group has its own products") {
  // 13 x 13 outputs are 4 x 4 tiles. 36 products of 192 channels and filters for each of two groups.
  const ApartPlan plan = plan_winograd_apart(layer("13-32-3-384-384-g2"), h200());
  REQUIRE(plan.refusal.empty());
  CHECK(plan.division.channels == 384);
  CHECK(plan.division.group_channels == 192);
  CHECK(plan.division.group_filters == 192);
  CHECK(plan.division.filter_pitch == 192);
  CHECK(plan.packed_floats == 36 * 384 * 192);
  CHECK(plan.workspace_floats == 36 * (384 + 384) * 512);
  const LaunchWork work = work_of(layer("13-32-3-384-384-g2"), plan);
  CHECK(work.launches == 3);
  CHECK(work.steps == 6);
  const LaunchWork half = work_of(
      layer("13-32-3-192-192"),
      plan_winograd_apart(layer("13-32-3-192-192"), h200(), kMostTemporaries, plan.division.block));
  CHECK(work.blocks == 2 * half.blocks);
  // Strides: four phases of three channels; two filters are filled up to four.
  const ApartPlan strided = plan_winograd_apart(layer("13-1-5-4-6-s2-g2"), h200());
  CHECK(strided.division.channels == 24);
  CHECK(strided.division.group_channels == 12);
  CHECK(strided.packed_floats == 36 * 24 * 4);
  CHECK(plan_winograd_apart(layer("9-1-3-1820-1820-g1820"), h200()).refusal.empty());
  CHECK(plan_winograd_apart(layer("9-1-3-1821-1821-g1821"), h200()).refusal ==
        "it takes at most 1820 groups");
}

TEST_CASE("winograd: blocks of the products as large as filters, tiles and SMs allow") {
  const auto block = [](const char* label, const gpus::GpuLimits& gpu = h200()) {
    const ApartPlan plan = plan_winograd_apart(layer(label), gpu);
    REQUIRE(plan.refusal.empty());
    const ApartBlock& its = kApartBlocks[plan.division.block];
    return std::pair(its.filters, its.tiles);
  };
  CHECK(block("14-128-3-512-512") == std::pair(128, 128));
  CHECK(block("14-128-3-320-160") == std::pair(64, 128));  // three of 128 would be half empty
  // 64 tiles; 128 tiles, of which 128 x 128 would be 144 blocks and 64 x 64 576.
  CHECK(block("7-16-3-512-512") == std::pair(64, 32));
  CHECK(block("7-32-3-512-512") == std::pair(64, 64));
  // 16 tiles: 288 blocks are too few, but there are no more.
  CHECK(block("14-1-3-512-512") == std::pair(64, 16));
  // 144 are enough for 36 SMs, and not for 37.
  gpus::GpuLimits smaller = h200();
  smaller.sms = 36;
  CHECK(block("7-32-3-512-512", smaller) == std::pair(128, 128));
  smaller.sms = 37;
  CHECK(block("7-32-3-512-512", smaller) == std::pair(64, 128));
  // 128 x 128 take 64 KB on chip, 64 x 128 take 48, 64 x 16 take 20.
  gpus::GpuLimits narrow = h200();
  narrow.shared_per_block = 48 << 10;
  CHECK(block("14-128-3-512-512", narrow) == std::pair(64, 128));
  narrow.shared_per_block = (20 << 10) - 1;
  CHECK_THAT(plan_winograd_apart(layer("14-128-3-512-512"), narrow).refusal,
             contains("a block needs 20480 bytes of shared memory"));
}
