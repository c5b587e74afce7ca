// Stage 08's planner: the paper's own numbers, and what must hold of every block, against walks over
// all taps that share no code with it.
#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "common/data/layer_table.hpp"
#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::multi_channel_stride_fixed;
using halo::conv::ConvLayer;
using halo::test::contains;
using halo::test::message_of;

namespace {

gpus::GpuLimits limits(const std::string& key) { return gpus::limits_of(gpus::built_in_gpu(key)); }

ConvLayer square(int C, int size, int K, int filter) {
  return ConvLayer({.C = C,
                    .H = size,
                    .W = size,
                    .K = K,
                    .R = filter,
                    .S = filter,
                    .padding_h = (filter - 1) / 2,
                    .padding_w = (filter - 1) / 2});
}

ConvLayer random_layer(std::mt19937& random) {
  const auto from = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (;;) {
    halo::conv::LayerShape s;
    s.N = from(1, 3);
    s.C = from(1, 30);
    s.H = from(1, 60);
    s.W = from(1, 300);
    s.K = from(1, 200);
    s.R = from(1, 7);
    s.S = from(1, 7);
    s.stride_h = from(1, 4);
    s.stride_w = from(1, 4);
    s.padding_h = from(0, 8);
    s.padding_w = from(0, 8);
    if (s.R <= s.H + 2 * s.padding_h && s.S <= s.W + 2 * s.padding_w) return ConvLayer(s);
  }
}

}  // namespace

TEST_CASE("08 block plan: the paper's rule for the FMAs, with its own GPU") {
  const auto& gpu = gpus::built_in_gpu("gtx1080ti");
  const auto printed = gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed);
  const auto hardware = gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware);
  REQUIRE(printed == 66'048);
  REQUIRE(hardware == 33'024);
  const ConvLayer layer = square(512, 28, 512, 3);
  const auto fma = [&](int segment) {
    const BlockPlan plan = plan_blocks(layer, segment, limits("gtx1080ti"));
    REQUIRE(plan.refusal.empty());
    CHECK(plan.block.pixels == 128);
    CHECK(plan.block.filters == 64);
    CHECK(plan.threads == 512);
    return std::int64_t{plan.block.segment} * plan.block.pixels * plan.block.filters;
  };
  // 32 bytes with 128 pixels and 64 filters just miss what the paper asks for, as it counts.
  CHECK(fma(kSegment32) == 65'536);
  CHECK(fma(kSegment32) < printed);
  CHECK(fma(kSegment32) >= hardware);
  CHECK(fma(kSegment64) == 131'072);
  CHECK(fma(kSegment64) >= printed);
}

TEST_CASE("08 block plan: lines and maps that a segment touches") {
  // {the paper's, in truth, maps}
  CHECK(segment_extent(square(512, 28, 512, 1), kSegment32) == SegmentExtent{8, 8, 8});
  CHECK(segment_extent(square(512, 28, 512, 3), kSegment32) == SegmentExtent{3, 4, 2});
  CHECK(segment_extent(square(512, 28, 512, 5), kSegment32) == SegmentExtent{2, 3, 2});
  CHECK(segment_extent(square(512, 28, 512, 3), kSegment64) == SegmentExtent{6, 6, 3});
  CHECK(segment_extent(square(512, 28, 512, 5), kSegment64) == SegmentExtent{4, 4, 2});
  CHECK(segment_extent(square(512, 28, 512, 3), kSegment128) == SegmentExtent{11, 12, 5});
  // A filter of one channel is never straddled; nor does a segment go beyond the last tap.
  CHECK(segment_extent(square(512, 28, 512, 3), 9) == SegmentExtent{3, 3, 1});
  CHECK(segment_extent(square(1, 28, 512, 3), kSegment64) == SegmentExtent{3, 3, 1});

  // Against a walk over all taps.
  std::mt19937 random(20181);
  for (int i = 0; i < 100; ++i) {
    const ConvLayer layer = random_layer(random);
    const int taps = layer.C() * layer.R() * layer.S();
    for (const int segment : {1, 8, 9, 16, 32}) {
      std::size_t lines = 0, maps = 0;
      for (int first = 0; first < taps; first += segment) {
        std::set<int> rows, channels;
        for (int tap = first; tap < std::min(first + segment, taps); ++tap) {
          rows.insert(tap / layer.S());
          channels.insert(tap / (layer.R() * layer.S()));
        }
        lines = std::max(lines, rows.size());
        maps = std::max(maps, channels.size());
      }
      const SegmentExtent extent = segment_extent(layer, segment);
      INFO(label(layer) << " segment " << segment);
      CHECK(extent.lines == static_cast<int>(lines));
      CHECK(extent.maps == static_cast<int>(maps));
    }
  }
}

TEST_CASE("08 block plan: the ring holds a segment's lines and the next one's, and no more") {
  std::mt19937 random(42);
  for (int i = 0; i < 60; ++i) {
    const ConvLayer layer = random_layer(random);
    const int taps = layer.C() * layer.R() * layer.S();
    for (const int segment : {1, 8, 16, 25}) {
      const BlockPlan plan = plan_blocks(layer, segment, limits("h200"));
      INFO(label(layer) << " segment " << segment);
      REQUIRE(plan.refusal.empty());
      const Block& b = plan.block;
      // Line j of channel c, for every tap and every row of targets.
      int most = 0;
      for (int first = 0; first < taps; first += b.segment) {
        int lowest = 1 << 30, highest = -1;
        for (int tap = first; tap < std::min(first + 2 * b.segment, taps); ++tap) {
          const int c = tap / (layer.R() * layer.S());
          const int r = tap / layer.S() % layer.R();
          for (int row = 0; row < b.tile_rows; ++row) {
            const int line = c * b.channel_lines + row * layer.stride_h() + r;
            CHECK(row * layer.stride_h() + r < b.channel_lines);
            lowest = std::min(lowest, line);
            highest = std::max(highest, line);
          }
        }
        most = std::max(most, highest - lowest + 1);
      }
      CHECK(b.ring == most);
    }
  }
}

TEST_CASE("08 block plan: every block is one that a GPU can run, and the tiles cover the outputs") {
  std::mt19937 random(7);
  int shrunk = 0;
  for (int i = 0; i < 300; ++i) {
    const ConvLayer layer = random_layer(random);
    // The last is so small that W'x and M' have to give way.
    for (const gpus::GpuLimits& gpu :
         {limits("h200"), limits("gtx1080ti"), gpus::GpuLimits{4, 8192, 8192}}) {
      for (const int segment : {kSegment32, kSegment64, layer.R() * layer.S(), kSegment128}) {
        const BlockPlan plan = plan_blocks(layer, segment, gpu);
        INFO(label(layer) << " segment " << segment << " on " << gpu.shared_per_sm);
        if (!plan.refusal.empty()) {
          CHECK(gpu.shared_per_sm == 8192);
          continue;
        }
        const Block& b = plan.block;
        CHECK(b.pixels % 32 == 0);
        CHECK(b.pixels <= kPixels);
        CHECK(b.filters % kFiltersPerThread == 0);
        CHECK(b.filters <= kFilters);
        CHECK(plan.threads == b.pixels * (b.filters / kFiltersPerThread));
        CHECK(plan.threads <= 1024);
        CHECK(b.pitch % 4 == 0);
        CHECK(b.pitch >= b.segment);
        CHECK(plan.shared_bytes == 4 * (2 * b.filters * b.pitch + b.ring * b.line));
        CHECK(plan.shared_bytes <= gpu.shared_per_block);
        CHECK(b.tile_rows * b.tile_columns <= b.pixels);
        CHECK(b.line == (b.tile_columns - 1) * layer.stride_w() + layer.S());
        // The tiles cover the map, and none is beyond it; likewise the groups and the filters.
        CHECK(b.tiles_down * b.tile_rows >= layer.P());
        CHECK((b.tiles_down - 1) * b.tile_rows < layer.P());
        CHECK(b.tiles_across * b.tile_columns >= layer.Q());
        CHECK((b.tiles_across - 1) * b.tile_columns < layer.Q());
        CHECK(b.groups * b.filters >= layer.K());
        CHECK((b.groups - 1) * b.filters < layer.K());
        // A block with several rows has whole ones: its targets are neighbours in memory.
        CHECK((b.tile_rows == 1 || b.tiles_across == 1));
        if (b.pixels < kPixels && layer.P() * layer.Q() > kPixels) ++shrunk;
      }
    }
  }
  CHECK(shrunk > 100);
}

TEST_CASE("08 block plan: small maps, and few filters") {
  // 7 x 7: 49 targets in 64 threads, not 128; 14 x 14: nine rows; 224 x 224: 128 and 96.
  const gpus::GpuLimits h200 = limits("h200");
  const Block seven = plan_blocks(square(512, 7, 512, 3), kSegment32, h200).block;
  CHECK(seven.pixels == 64);
  CHECK(seven.tile_rows == 7);
  CHECK(seven.tiles_down == 1);
  const Block fourteen = plan_blocks(square(512, 14, 512, 3), kSegment32, h200).block;
  CHECK(fourteen.tile_rows == 9);
  CHECK(fourteen.tiles_down == 2);
  CHECK(fourteen.channel_lines == 11);
  const Block wide = plan_blocks(square(64, 224, 64, 3), kSegment32, h200).block;
  CHECK(wide.tile_rows == 1);
  CHECK(wide.tiles_across == 2);
  CHECK(wide.line == 130);
  CHECK(plan_blocks(square(3, 224, 10, 3), kSegment32, h200).block.filters == 16);
}

TEST_CASE("08 block plan: what is asked for exactly is given or refused") {
  const ConvLayer layer = square(64, 56, 64, 3);
  const gpus::GpuLimits gpu = limits("h200");
  const BlockPlan plan = exact_block(layer, kSegment64, 256, 64, gpu);
  CHECK(plan.refusal.empty());
  CHECK(plan.block.pixels == 256);
  CHECK(plan.block.filters == 64);
  CHECK(plan.block.tile_rows == 4);
  CHECK_THAT(exact_block(layer, kSegment64, 256, 128, gpu).refusal, contains("2048 threads"));
  CHECK_THAT(exact_block(layer, kSegment64, 256, 64, {132, 1 << 18, 8192}).refusal,
             contains("8192 bytes of shared memory"));
  CHECK_THAT(exact_block(layer, kSegment64, 256, 64, {132, 8192, 1 << 18}).refusal,
             contains("half of an SM's shared memory"));
  for (const auto& [segment, pixels, filters] :
       {std::array{0, 128, 64}, std::array{8, 100, 64}, std::array{8, 0, 64},
        std::array{8, 128, 40}, std::array{8, 128, 0}}) {
    CHECK_THROWS_AS(exact_block(layer, segment, pixels, filters, gpu), std::invalid_argument);
  }
}

TEST_CASE("08 block plan: the divisions that stand alone") {
  const gpus::GpuLimits gpu = limits("h200");
  // 512 channels, filters and 784 pixels for 132 SMs: 4, 4 and 6 each.
  const ConvLayer layer = square(512, 28, 512, 3);
  CHECK(plan_channels_divided(layer, gpu).parts == 128);
  const BlockPlan filters = plan_filters_divided(layer, gpu);
  CHECK(filters.block.filters == 4);
  CHECK(filters.block.groups == 128);
  CHECK(filters.block.pixels == 512);
  CHECK(filters.shared_bytes == 4 * (4 * 4608 + filters.block.ring * filters.block.line));
  const BlockPlan maps = plan_maps_divided(layer, gpu);
  CHECK(maps.block.tile_columns == 6);
  CHECK(maps.block.tile_rows == 1);
  CHECK(maps.block.ring == 512 * 3);

  // The parts' sums are kept under their limit: 64 maps of 512 x 512, 16 of them.
  CHECK(plan_channels_divided(square(64, 512, 64, 3), gpu).parts == 16);
  // Every part has a channel.
  for (int C = 1; C < 400; ++C) {
    const int parts = plan_channels_divided(square(C, 4, 4, 1), gpu).parts;
    const int each = (C - 1) / parts + 1;
    CHECK(parts <= gpu.sms);
    CHECK((parts - 1) * each < C);
  }

  // All maps of the papers' layers, whatever it takes.
  for (const auto& named : halo::data::paper_layer_table("chang_onishi_multi")) {
    INFO(label(named.layer));
    for (const BlockPlan& plan :
         {plan_channels_divided(named.layer, gpu), plan_filters_divided(named.layer, gpu),
          plan_maps_divided(named.layer, gpu), plan_blocks(named.layer, kSegment32, gpu)}) {
      CHECK(plan.refusal.empty());
      CHECK(plan.shared_bytes <= gpu.shared_per_block);
    }
  }
}
