#include "common/convolve/windows/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

namespace {

ConvLayer same(std::int64_t N, std::int64_t size, std::int64_t K, std::int64_t R) {
  return ConvLayer({.N = N,
                    .H = size,
                    .W = size,
                    .K = K,
                    .R = R,
                    .S = R,
                    .padding_h = (R - 1) / 2,
                    .padding_w = (R - 1) / 2});
}

const gpus::GpuLimits kH200 = gpus::limits_of(gpus::built_in_gpu("h200"));

// Rows and columns of a thread, of a block's threads, and its filters.
std::vector<int> shape(const ConvLayer& layer) {
  const WindowPlan plan = plan_one_channel(layer, kH200);
  INFO(plan.refusal);
  REQUIRE(plan.refusal.empty());
  const WindowBlock& b = plan.block;
  return {b.rows, b.columns, b.threads_down, b.threads_across, b.filters};
}

}  // namespace

TEST_CASE("windows: as many filters a block as leave every SM one and a half blocks") {
  // 14 pairs of rows by 7 quads are one block's, for 512 filters: with 4 of them 128 blocks. So a thread
  // has one row: two tiles, 256 blocks.
  CHECK(shape(same(1, 28, 512, 3)) == std::vector<int>{1, 4, 14, 7, 4});
  // 7 tiles of 8 rows, 32 groups of 8 filters: 224 blocks.
  CHECK(shape(same(1, 56, 256, 3)) == std::vector<int>{1, 4, 8, 14, 8});
  CHECK(shape(same(1, 224, 64, 3)) == std::vector<int>{2, 4, 4, 28, 16});
  CHECK(shape(same(1, 1024, 32, 3)) == std::vector<int>{2, 4, 4, 32, 32});
  CHECK(shape(same(1, 112, 128, 5)) == std::vector<int>{2, 4, 4, 28, 8});
  CHECK(plan_one_channel(same(1, 112, 128, 5), kH200).blocks == 14 * 16);
  // A batch has as many tiles.
  CHECK(shape(same(128, 28, 16, 5)) == std::vector<int>{2, 4, 14, 7, 8});
  CHECK(shape(same(256, 28, 16, 5)) == std::vector<int>{2, 4, 14, 7, 16});
}

TEST_CASE("windows: quads only where rows are whole quads, several rows only without a stride") {
  CHECK(shape(same(1, 27, 512, 3)) == std::vector<int>{4, 1, 4, 27, 4});
  CHECK(shape(ConvLayer({.H = 28, .W = 28, .K = 64, .R = 5, .S = 5}))[1] == 1);  // 24 of 28 cells
  const std::vector<int> strided =
      shape(ConvLayer({.H = 29, .W = 29, .K = 64, .R = 5, .S = 5, .stride_h = 2, .stride_w = 2}));
  CHECK(strided[0] == 1);
  CHECK(strided[1] == 1);
}

TEST_CASE("windows: a plane of 1 x 1 filters is one row") {
  CHECK(shape(same(1, 28, 512, 1)) == std::vector<int>{1, 4, 1, 98, 4});
  CHECK(plan_one_channel(same(1, 28, 512, 1), kH200).block.one_row);
  CHECK(shape(same(1, 14, 512, 1)) ==
        std::vector<int>{1, 4, 1, 49, 2});  // 14 is no whole quads, 196 is
  CHECK(shape(same(1, 13, 512, 1))[1] == 1);
  const ConvLayer padded({.H = 8, .W = 8, .R = 1, .S = 1, .padding_h = 1, .padding_w = 1});
  CHECK_FALSE(plan_one_channel(padded, kH200).block.one_row);
}

TEST_CASE("windows: a picture's three channels") {
  const auto shape_of = [](const ConvLayer& layer) {
    const WindowBlock b = plan_few_channels(layer, kH200).block;
    return std::vector<int>{b.rows, b.columns, b.threads_down, b.threads_across, b.filters};
  };
  const ConvLayer vgg(
      {.C = 3, .H = 224, .W = 224, .K = 64, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  CHECK(shape_of(vgg) == std::vector<int>{2, 4, 4, 28, 16});
  // 96 filters in two equal groups, not 64 and 32.
  const ConvLayer strided(
      {.N = 64, .C = 3, .H = 224, .W = 224, .K = 96, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2});
  CHECK(shape_of(strided) == std::vector<int>{3, 1, 4, 28, 48});
  CHECK(plan_few_channels(same(1, 28, 4, 3), kH200).refusal ==
        "it is made for two to four channels");
  const ConvLayer alexnet(
      {.C = 3, .H = 227, .W = 227, .K = 96, .R = 11, .S = 11, .stride_h = 4, .stride_w = 4});
  CHECK(plan_few_channels(alexnet, kH200).refusal ==
        "a thread's window has 3 x 3 cells; of three channels 5 x 5 also");
}

TEST_CASE("windows: every shape that kernels are compiled for is in use") {
  for (const auto& [shapes, plan] : {std::pair(one_channel_shapes(), &plan_one_channel),
                                     std::pair(few_channel_shapes(), &plan_few_channels)}) {
    for (const WindowShape& wanted : shapes) {
      bool used = false;
      for (const int size : {13, 28, 27, 224, 223}) {
        for (const int stride : {1, 2}) {
          const ConvLayer layer({.C = wanted.channels,
                                 .H = size,
                                 .W = size,
                                 .K = 64,
                                 .R = wanted.size,
                                 .S = wanted.size,
                                 .stride_h = stride,
                                 .stride_w = stride,
                                 .padding_h = wanted.size / 2,
                                 .padding_w = wanted.size / 2});
          const WindowPlan made = plan(layer, kH200);
          used = used || (made.refusal.empty() && made.block.rows == wanted.rows &&
                          made.block.columns == wanted.columns);
        }
      }
      INFO(wanted.channels << " channels, " << wanted.size << ": " << wanted.rows << " x "
                           << wanted.columns);
      CHECK(used);
    }
  }
}
