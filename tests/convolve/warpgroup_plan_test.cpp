#include "common/convolve/warpgroup/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

namespace {

const gpus::GpuLimits kH200{132, 233'472, 232'448, 90};

WarpgroupPlan planned(const char* label) { return plan_warpgroup(conv::parse_label(label), kH200); }

}  // namespace

TEST_CASE("warpgroup: tiles follow from the layer") {
  // Many filters: large tiles. Never larger than the filters need, and smaller ones where most SMs would have none.
  CHECK(planned("14-128-1-1024-256").tile.filters == 128);
  CHECK(planned("14-128-1-96-480").tile.filters == 96);
  CHECK(planned("56-128-1-64-64").tile.filters == 64);
  CHECK(planned("14-128-1-32-512").tile.filters == 32);
  CHECK(planned("7-8-1-128-32").tile.filters == 32);
}

TEST_CASE("warpgroup: two blocks have half of each sum where turns of blocks come out uneven") {
  // 196 tiles on 132 SMs: two turns, or three of half as long. Where turns are many a part is nothing gained.
  const WarpgroupPlan pairs = planned("7-128-3-384-192");
  CHECK(pairs.tiles.count == 196);
  CHECK(pairs.tile.parts == 2);
  CHECK(pairs.blocks == 132);
  CHECK(turns_of(pairs) == 3);
  CHECK(planned("14-128-1-1024-256").tile.parts == 1);
  CHECK(planned("7-8-1-2048-512").tile.parts == 2);
  CHECK(exact_warpgroup(conv::parse_label("14-1-1-32-32"), {64, 2}, kH200).refusal ==
        "its sums are of one piece, and have no two parts");
}

TEST_CASE("warpgroup: of few outputs a tile has 64, and its block one warpgroup less") {
  const WarpgroupPlan few =
      exact_warpgroup(conv::parse_label("55-1-3-64-16"), {32, 1, kFewPixels}, kH200);
  CHECK(few.tiles.count == 48 * 2);  // 3,025 outputs; 64 filters
  CHECK(few.blocks == 96);
  CHECK(sizes_of(few.tile) == "32x64");
  CHECK(warpgroup_cost(conv::parse_label("55-1-3-64-16"), few).launches ==
        std::vector<LaunchFigures>{{1, 96, 384, 106'080}});
}

TEST_CASE("warpgroup: of a fully connected layer the outputs are pixels, the images filters") {
  const auto plan_of = [](const char* label) {
    return plan_fully_connected(conv::parse_label(label), kH200);
  };
  // AlexNet's fc6: 32 tiles of outputs, of half of the images each; and each sum over two blocks.
  const WarpgroupPlan fc6 = plan_of("6-128-6-4096-256-p0");
  CHECK(fc6.refusal == "");
  CHECK(fc6.tile.filters == 64);
  CHECK(fc6.tile.parts == 2);
  CHECK(fc6.tiles.count == 2 * 32);
  CHECK(fc6.tiles.pieces == 288);
  CHECK(fc6.blocks == 128);
  CHECK(fc6.packed_floats == 2 * 128 * 9216);  // of the images, in two parts
  CHECK(plan_of("6-64-6-4096-256-p0").blocks == 64);
  CHECK(plan_of("1-128-1-1000-20").tile.parts == 1);  // one piece
  CHECK(plan_of("6-128-3-4096-256").refusal == "it is made for filters that cover the whole map");
  CHECK(plan_of("1-8-1-3-5").refusal == "it is made for filters that are whole quads together");
}

TEST_CASE("warpgroup: each tile of outputs has all groups of filters, a block every so manieth") {
  const WarpgroupPlan plan = planned("14-128-1-1024-256");
  CHECK(plan.refusal == "");
  CHECK(plan.tiles.groups.value == 8);
  CHECK(plan.tiles.count == 196 * 8);
  CHECK(plan.blocks == 132);
  CHECK(turns_of(plan) == 12);
  CHECK(plan.tiles.pieces == 8);
  CHECK(plan.packed_floats == 2 * 1024 * 256);
  CHECK(planned("9-1-1-8-8").blocks == 1);
}

TEST_CASE("warpgroup: pixels are copied in quads where those of an image are a run") {
  const auto in_runs = [](const char* label) {
    return planned(label).pixels_by == WarpgroupPixelsBy::quads;
  };
  CHECK(in_runs("14-1-1-32-32"));
  CHECK(in_runs("7-3-1-32-32"));
  CHECK(in_runs("5-3-1-32-32"));        // a run for each image
  CHECK_FALSE(in_runs("5-8-1-32-32"));  // a tile has outputs of up to seven images
  CHECK_FALSE(in_runs("7-3-1-32-3"));   // 441 cells: the last are no quad
  CHECK_FALSE(in_runs("14-1-3-32-32"));
  CHECK_FALSE(in_runs("14-1-1-32-32-s2"));
}

TEST_CASE("warpgroup: a piece has two taps of 16 channels where that leaves fewer zeros") {
  CHECK(planned("55-1-3-64-16").pixels_by == WarpgroupPixelsBy::halves);
  CHECK(planned("55-1-3-64-16").tiles.pieces == 5);   // 9 taps
  CHECK(planned("7-1-5-128-48").tiles.pieces == 38);  // 25 taps in three chunks
  CHECK(planned("55-1-3-64-32").pixels_by == WarpgroupPixelsBy::one);
  CHECK(planned("55-1-3-64-32").tiles.pieces == 9);
}

TEST_CASE("warpgroup: of few channels a piece has whatever products follow each other") {
  CHECK(planned("224-64-7-96-3-s2-p1").pixels_by == WarpgroupPixelsBy::taps);
  CHECK(planned("224-64-7-96-3-s2-p1").tiles.pieces == 5);    // 147 products
  CHECK(planned("227-64-11-96-3-s4-p0").tiles.pieces == 12);  // 363
  CHECK(planned("28-1-5-16-1").tiles.pieces == 1);            // 25
  CHECK(planned("28-64-3-64-12").pixels_by == WarpgroupPixelsBy::halves);
  const ConvLayer few = conv::parse_label("224-64-7-96-3-s2-p1");
  CHECK(exact_warpgroup(few, {96, 2}, kH200).pixels_by == WarpgroupPixelsBy::halves);
}

TEST_CASE("warpgroup: matrices are images of whole tiles, whose sums are not divided") {
  const auto refusal = [](int columns, const WarpgroupTile& tile) {
    const ConvLayer matrices({.N = 36, .C = 64, .H = 1, .W = columns, .K = 20, .R = 1, .S = 1});
    return exact_matrices(matrices, tile, kH200).refusal;
  };
  CHECK(refusal(256, {32}) == "");
  CHECK_THAT(refusal(192, {32}), test::contains("rows of whole 128"));
  CHECK(refusal(192, {32, 1, kFewPixels}) == "");
  // Blocks for which there are SMs enough share none.
  const auto alone = [](int columns) {
    const ConvLayer matrices({.N = 16, .C = 64, .H = 1, .W = columns, .K = 64, .R = 1, .S = 1});
    return exact_matrices(matrices, {32, 1, kFewPixels}, kH200).tile;
  };
  CHECK(2 * alone(256).shared_bytes() > kH200.shared_per_sm);
  CHECK(2 * alone(320).shared_bytes() < kH200.shared_per_sm);
  CHECK_THAT(refusal(256, {64, 2}), test::contains("one part"));
}

TEST_CASE("warpgroup: it runs where wgmma does, and where a block's pieces fit") {
  const ConvLayer layer = conv::parse_label("14-1-1-32-32");
  gpus::GpuLimits gpu = kH200;
  CHECK(plan_warpgroup(layer, gpu).refusal == "");
  gpu.capability = 80;
  CHECK(plan_warpgroup(layer, gpu).refusal ==
        "its instruction wgmma is of compute capability 9.0 alone, the GPU has 8.0");
  gpu.capability = 100;
  CHECK(plan_warpgroup(layer, gpu).refusal ==
        "its instruction wgmma is of compute capability 9.0 alone, the GPU has 10.0");
  gpu = kH200;
  gpu.shared_per_block = 100'000;
  CHECK(plan_warpgroup(layer, gpu).refusal ==
        "a block needs 155232 bytes of shared memory, of 100000");
  for (const WarpgroupTile& tile : warpgroup_tiles()) {
    CHECK(tile.shared_bytes() <= kH200.shared_per_block);
  }
  const ConvLayer many({.C = 40'000, .H = 1, .W = 1, .K = 40'000, .R = 1, .S = 1});
  CHECK(exact_warpgroup(many, {128}, kH200).refusal ==
        "its filters in two parts, with pieces of 32 channels, are 3205120000 floats (at most "
        "2147479551)");
}
