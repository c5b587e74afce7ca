#include <algorithm>
#include <string>

#include "common/convolve/register_tile/plan.hpp"
#include "common/data/layer_table.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "tests/catch.hpp"
#include "tests/gpus/small_gpu.hpp"

using namespace halo;
using namespace halo::convolve;
using halo::conv::ConvLayer;
using halo::test::contains;

namespace {

gpus::GpuLimits h200() { return gpus::limits_of(gpus::built_in_gpu("h200")); }

ConvLayer pointwise(int N, int C, int size, int K) {
  return ConvLayer({.N = N, .C = C, .H = size, .W = size, .K = K, .R = 1, .S = 1});
}

RegisterShape shape_of(const RegisterTilePlan& plan) {
  REQUIRE(plan.refusal == "");
  return kRegisterShapes[static_cast<std::size_t>(plan.tile.shape)];
}

}  // namespace

TEST_CASE(
    "register_tile: every shape is whole warps whose copies are whole turns, and fits an SM") {
  for (int i = 0; i < kRegisterShapeCount; ++i) {
    const RegisterShape& shape = kRegisterShapes[i];
    CAPTURE(shape.filters, shape.pixels);
    CHECK(shape.threads() % 32 == 0);
    CHECK(shape.filters % (4 * shape.thread_filters) == 0);
    CHECK(shape.pixels % (8 * shape.thread_pixels) == 0);
    CHECK(shape.threads() >= shape.pixels);  // a pixel or more a thread
    const int bytes = 4 * std::max(shape.stages(shape.for_few), shape.sums());
    CHECK(shape.blocks_of_sm * (bytes + 1024) <= h200().shared_per_sm);
    // Sums, and two channels' filters and pixels, are registers; so are some thirty others.
    const int registers = shape.thread_filters * shape.thread_pixels +
                          2 * (shape.thread_filters + shape.thread_pixels);
    CHECK(shape.blocks_of_sm * shape.threads() * registers < 65536);
  }
}

TEST_CASE("register_tile: a layer gets the tile that its filters and its pixels fill") {
  CHECK(shape_of(plan_register_tile(pointwise(128, 192, 28, 16), h200())).filters == 16);
  CHECK(shape_of(plan_register_tile(pointwise(128, 256, 28, 32), h200())).filters == 32);
  const RegisterTilePlan large = plan_register_tile(pointwise(128, 512, 28, 512), h200());
  CHECK(shape_of(large).filters >= 64);
  CHECK(shape_of(large).pixels == 128);
  CHECK(large.tile.parts == 1);
}

TEST_CASE("register_tile: few tiles of many channels are shared by clusters") {
  const RegisterTilePlan plan = plan_register_tile(pointwise(1, 832, 7, 32), h200());
  CHECK(shape_of(plan).filters <= 32);
  CHECK(plan.tile.parts > 2);
}

TEST_CASE("register_tile: parts are no more than segments") {
  for (int shape = 0; shape < kRegisterShapeCount; ++shape) {
    if (!kRegisterShapes[shape].for_many) continue;
    CHECK(exact_register_tile(pointwise(1, 33, 8, 8), shape, 8, h200()).tile.parts == 3);
    CHECK(exact_register_tile(pointwise(1, 16, 8, 8), shape, 8, h200()).tile.parts == 1);
  }
}

TEST_CASE("register_tile: pixels are copied in quads where they are quads in memory") {
  const auto at_once = [](const ConvLayer& layer) {
    return exact_register_tile(layer, 0, 1, h200()).tile.at_once;
  };
  CHECK(at_once(pointwise(2, 16, 14, 8)) == 4);
  CHECK(at_once(pointwise(2, 16, 7, 8)) == 1);
  CHECK(at_once(ConvLayer({.C = 16, .H = 8, .W = 8, .R = 1, .S = 1, .stride_w = 2})) == 1);
  CHECK(at_once(ConvLayer({.C = 16, .H = 8, .W = 8, .R = 1, .S = 1, .padding_h = 1})) == 1);
  CHECK(at_once(ConvLayer({.C = 16, .H = 8, .W = 8, .R = 1, .S = 3, .padding_w = 1})) == 1);
}

TEST_CASE("register_tile: a block gets 48 KB anywhere, and what needs more is refused") {
  const gpus::GpuLimits small = gpus::limits_of(halo::test::small_gpu());
  CHECK_THAT(exact_register_tile(pointwise(1, 16, 14, 64), 0, 1, small).refusal,
             contains("49152 bytes of shared memory"));
  CHECK_THAT(exact_register_tile(pointwise(1, 15, 14, 64), 7, 1, small).refusal,
             contains("49152 bytes of shared memory"));
  for (int shape = 1; shape < 7; ++shape) {
    CHECK(exact_register_tile(pointwise(1, 16, 14, 64), shape, 1, small).refusal == "");
  }
  CHECK(plan_register_tile(pointwise(64, 256, 28, 256), small).refusal == "");
}

TEST_CASE("register_tile: few channels have shapes of their own") {
  for (int shape = 0; shape < kRegisterShapeCount; ++shape) {
    const RegisterTilePlan few = exact_register_tile(pointwise(1, 15, 8, 64), shape, 1, h200());
    const RegisterTilePlan many = exact_register_tile(pointwise(1, 16, 8, 64), shape, 1, h200());
    CHECK((few.refusal == "") == kRegisterShapes[shape].for_few);
    CHECK((many.refusal == "") == kRegisterShapes[shape].for_many);
    if (kRegisterShapes[shape].for_few) {
      CHECK(few.tile.at_once == 1);
    } else {
      CHECK_THAT(few.refusal, contains("with less than 16 channels it is compiled for other"));
    }
  }
  // AlexNet's and ZFNet's first layers: 96 filters, and images enough for the large tile, or one.
  const ConvLayer first({.N = 64,
                         .C = 3,
                         .H = 224,
                         .W = 224,
                         .K = 96,
                         .R = 7,
                         .S = 7,
                         .stride_h = 2,
                         .stride_w = 2,
                         .padding_h = 1,
                         .padding_w = 1});
  CHECK(shape_of(plan_register_tile(first, h200())).filters == 96);
  CHECK(work_of(first, exact_register_tile(first, 7, 1, h200()).tile).steps == 10);  // 147 taps
}

TEST_CASE(
    "register_tile: the model finds fewer blocks than SMs slower, and twice the images no "
    "faster") {
  const RegisterTile tile{.shape = 1, .parts = 1, .at_once = 4};
  double before = 0;
  for (const int N : {1, 2, 4, 8, 16, 32, 64}) {
    const double us = estimated_us(pointwise(N, 256, 28, 256), tile, h200());
    CHECK(us >= before);
    before = us;
  }
  CHECK(estimated_us(pointwise(1, 256, 28, 256), tile, h200()) <
        estimated_us(pointwise(64, 256, 28, 256), tile, h200()));
}
