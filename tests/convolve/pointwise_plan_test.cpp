#include "common/convolve/pointwise/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;

TEST_CASE("pointwise: a layer takes the largest tile that still gives each SM a block") {
  const gpus::GpuLimits h200{
      .sms = 132, .shared_per_sm = 228 << 10, .shared_per_block = 227 << 10, .capability = 90};
  const auto tile_of = [&](const char* label) {
    return name_of(plan_pointwise(conv::parse_label(label), h200));
  };
  CHECK(tile_of("13-1-1-256-64") == "pointwise_1_4");
  CHECK(tile_of("56-1-1-256-64") == "pointwise_4_8");
  CHECK(tile_of("55-32-1-64-16") == "pointwise_2_32");
  CHECK(tile_of("56-8-1-256-256") ==
        "pointwise_4_16");  // 64 filters' taps of 256 channels take 64 KB
  const PointwiseTile first = pointwise_tiles().front();
  CHECK(refuses(conv::parse_label("5-1-1-4-768"), first, h200).empty());
  CHECK(refuses(conv::parse_label("5-1-1-4-769"), first, h200) ==
        "the taps of 16 filters must fit into 48 KB of shared memory: 768 channels");
  // Of a group.
  CHECK(blocks_of(conv::parse_label("7-32-1-240-960-g3"), first) ==
        3 * blocks_of(conv::parse_label("7-32-1-80-320"), first));
  CHECK(refuses(conv::parse_label("5-1-1-8-1536-g2"), first, h200).empty());
  CHECK(refuses(conv::parse_label("5-1-1-8-1538-g2"), first, h200) ==
        "the taps of 16 filters must fit into 48 KB of shared memory: 768 channels");
  CHECK(refuses(conv::parse_label("5-1-3-4-8"), first, h200) ==
        "it is made for 1 x 1 filters with stride 1 and no padding");
}
