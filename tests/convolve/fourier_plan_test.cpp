#include <cstddef>
#include <stdexcept>
#include <string>

#include "common/convolve/fourier/plan.hpp"
#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using halo::conv::ConvLayer;
using halo::test::contains;

namespace {

ConvLayer layer(const char* label) { return halo::conv::parse_label(label); }

}  // namespace

TEST_CASE("fourier: a layer by hand") {
  // 27 x 27 outputs of 5 x 5 filters: of 12 x 12 in a tile of 16 cells 3 x 3 tiles, of 28 x 28 in one of 32 a single one.
  const FourierPlan small = exact_fourier(layer("27-3-5-70-20"), 16);
  REQUIRE(small.refusal.empty());
  CHECK(small.division.outputs_down == 12);
  CHECK(small.division.outputs_across == 12);
  CHECK(small.division.tiles_down == 3);
  CHECK(small.division.tiles_across == 3);
  CHECK(small.division.images == 3);
  CHECK(small.division.tile_pitch == 32);  // 27 of three images, in sixteens
  CHECK(small.division.filter_pitch == 80);
  CHECK(small.packed_floats == 2 * 130 * 20 * 80);
  CHECK(small.workspace_floats == 2 * 130 * (20 + 70) * 32);
  const FourierPlan large = exact_fourier(layer("27-3-5-70-20"), 32);
  CHECK(large.division.tiles_down == 1);
  CHECK(large.division.tile_pitch == 16);
  CHECK(large.workspace_floats == 2 * 514 * (20 + 70) * 16);
  // As many frequencies as a real tile has numbers that are not told by others, and two.
  CHECK(fourier_frequencies(16) == 130);
  CHECK(fourier_frequencies(32) == 514);
}

TEST_CASE("fourier: the size for which less is foreseen") {
  // Three tiles of 16 each way are nine times 130 frequencies, one of 32 is 514.
  CHECK(plan_fourier(layer("27-256-5-256-96")).division.size == 32);
  // A map of 14 and its halo are one tile of 16.
  CHECK(plan_fourier(layer("14-256-3-224-112")).division.size == 16);
  // Only one of the sizes takes filters of 12 x 12, and neither of 17 x 17.
  CHECK(plan_fourier(layer("40-1-12-8-8")).division.size == 32);
  CHECK_THAT(plan_fourier(layer("40-1-17-8-8")).refusal, contains("at most"));
  CHECK_THAT(exact_fourier(layer("40-1-12-8-8"), 16).refusal, contains("8 x 8 at most"));
  CHECK_THROWS_AS(exact_fourier(layer("40-1-3-8-8"), 24), std::out_of_range);
}

TEST_CASE("fourier: blocks of the products as large as filters and tiles allow") {
  CHECK(exact_fourier(layer("14-128-3-512-64"), 16).division.side == 64);
  CHECK(exact_fourier(layer("14-128-3-32-64"), 16).division.side == 32);   // half would be empty
  CHECK(exact_fourier(layer("14-16-3-512-64"), 16).division.side == 32);   // 16 tiles
  CHECK(exact_fourier(layer("14-128-3-224-64"), 16).division.side == 32);  // 256 for 224
  CHECK(exact_fourier(layer("14-128-3-500-64"), 16).division.side == 64);  // 512 either way
}

TEST_CASE("fourier: slices of images, and what is refused") {
  // Of one image 16 tiles are written, of four no more: so many fit where one fits.
  const std::int64_t one = 2 * 130 * (20 + 70) * 16;
  CHECK(exact_fourier(layer("14-40-3-70-20"), 16, one).division.images == 14);  // 3 slices of 14
  CHECK(exact_fourier(layer("14-40-3-70-20"), 16, 2 * one).division.images == 20);
  CHECK(exact_fourier(layer("14-40-3-70-20"), 16).division.images == 40);
  CHECK_THAT(exact_fourier(layer("14-40-3-70-20"), 16, one - 1).refusal, contains("one image"));
  CHECK_THAT(exact_fourier(layer("12-3-3-8-8-s2"), 16).refusal, contains("stride 1"));
  CHECK_THAT(exact_fourier(layer("12-3-1-8-8"), 16).refusal, contains("single tap"));
  CHECK_THAT(exact_fourier(layer("14-1-3-3000-3000"), 16).refusal, contains("transformed filters"));
}

TEST_CASE("fourier: on tensor cores, with blocks of their own") {
  const gpus::GpuLimits h200 = gpus::limits_of(gpus::built_in_gpu("h200"));
  const auto filters_of_block = [&](const char* label) {
    return exact_fourier_split(layer(label), 16, h200).division.side;
  };
  CHECK(filters_of_block("14-128-3-512-64") == 64);
  CHECK(filters_of_block("14-1-3-512-64") == 64);  // of tiles a block has 64, exist as many as will
  CHECK(filters_of_block("14-128-3-224-64") == 64);  // a seventh empty
  CHECK(filters_of_block("14-128-3-96-64") == 32);   // a third
  CHECK(filters_of_block("14-128-3-32-64") == 32);
  // Everything else is as without.
  const FourierPlan plain = exact_fourier(layer("27-3-5-70-20"), 32);
  const FourierPlan split = exact_fourier_split(layer("27-3-5-70-20"), 32, h200);
  CHECK(split.packed_floats == plain.packed_floats);
  CHECK(split.workspace_floats == plain.workspace_floats);
  CHECK(split.division.tile_pitch == plain.division.tile_pitch);
  CHECK(plan_fourier_split(layer("27-256-5-256-96"), h200).division.size == 32);
  CHECK(plan_fourier_split(layer("14-256-3-224-112"), h200).division.size == 16);
  CHECK(plan_fourier_split(layer("14-128-3-512-512"), h200).microseconds <
        plan_fourier(layer("14-128-3-512-512")).microseconds);
  // What is refused.
  const gpus::GpuLimits v100 = gpus::limits_of(gpus::built_in_gpu("v100"));
  CHECK(exact_fourier_split(layer("14-128-3-512-64"), 16, v100).refusal ==
        "it needs compute capability 8.0, the GPU has 7.0");
  CHECK(exact_fourier_split(layer("14-128-3-512-64"), 16, {8, 65'536, 49'152, 80}).refusal ==
        "a block needs 51456 bytes of shared memory, of 49152");
  CHECK(exact_fourier_split(layer("14-128-3-32-64"), 16, {8, 65'536, 49'152, 80}).refusal.empty());
  CHECK_THAT(exact_fourier_split(layer("12-3-3-8-8-s2"), 16, h200).refusal, contains("stride 1"));
}
