#include "common/convolve/warpgroup/warpgroup.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/convolve/outputs.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

Conv2dVariant with_tile(const std::string& name) {
  for (const Conv2dVariant& one : convolve::warpgroup_of_each_tile()) {
    if (one.name == name) return one;
  }
  throw std::runtime_error("there is no " + name);
}

}  // namespace

TEST_CASE("warpgroup: trials reach all lines") {
  Conv2dStage planned;
  planned.name = "warpgroup";
  planned.variants = {convolve::warpgroup(), with_tile("warpgroup_32x64")};
  test::require_trials_of_all_lines(planned, "common/convolve/warpgroup/");
}

TEST_CASE("warpgroup: traffic is as predicted with each tile", "[all]") {
  Conv2dStage each;
  each.name = "warpgroup";
  each.variants = convolve::warpgroup_of_each_tile();
  test::require_traffic(
      each,
      {
          // Runs of one image and of several, at quads and not; one by one. Several groups of filters.
          ConvLayer({.N = 4, .C = 33, .H = 7, .W = 7, .K = 130, .R = 1, .S = 1}),
          ConvLayer({.N = 2, .C = 6, .H = 13, .W = 11, .K = 33, .R = 1, .S = 1}),
          ConvLayer({.N = 2, .C = 32, .H = 14, .W = 14, .K = 64, .R = 1, .S = 1}),
          // Taps of three channels; two taps a piece, the last of one; chunks of 16 and of 1.
          ConvLayer({.N = 2,
                     .C = 3,
                     .H = 12,
                     .W = 13,
                     .K = 40,
                     .R = 5,
                     .S = 3,
                     .stride_h = 2,
                     .padding_h = 2,
                     .padding_w = 1}),
          ConvLayer({.C = 17 + 16, .H = 6, .W = 5, .K = 40, .R = 3, .S = 1, .padding_h = 1}),
          ConvLayer({.N = 3,
                     .C = 33,
                     .H = 9,
                     .W = 11,
                     .K = 70,
                     .R = 3,
                     .S = 2,
                     .stride_h = 2,
                     .padding_h = 1,
                     .padding_w = 1}),
      });
}

TEST_CASE("warpgroup: the cost of a layer, by hand") {
  // One tile of 32 filters and 128 outputs, of which 64 exist; one piece of 32 channels, of which 16 exist.
  const ConvLayer layer({.C = 16, .H = 8, .W = 8, .K = 32, .R = 1, .S = 1});
  test::counting_backend();
  const Cost cost = convolve::warpgroup().prepared(layer).cost();
  CHECK(cost.launches == std::vector<LaunchFigures>{{1, 1, 512, 155'232}});
  // A channel's pixels are one request of 16 lanes, each with a quad.
  CHECK(cost.global_load_requests == 16);
  CHECK(cost.global_load_sectors == 16 * 8);
  CHECK(cost.global_store_requests == 32);
  CHECK(cost.global_store_sectors == 32 * 8);
  // A request for each row, whether there are pixels or not; and the sums of 8 warps, 16 registers each.
  CHECK(cost.shared_store_requests == 32 + 8 * 16);
  // Each of 8 warps has 16 pixels of a piece in a lane; and 32 rows of sums.
  CHECK(cost.shared_load_requests == 8 * 16 + 32);
  CHECK(cost.shared_load_conflicts == 0);
  CHECK(cost.shared_store_conflicts == 0);
  CHECK(cost.tensor_instructions == 8 * 4 * 3);
  // The piece's filters, in two parts: one copy; each of the two warpgroups reads them in 12 instructions.
  CHECK(cost.bulk_load_requests == 1);
  CHECK(cost.bulk_load_sectors == 2 * 32 * 32 * 4 / 32);
  CHECK(cost.wgmma_wavefronts == 2 * 12 * 32 * 2 / 8);
  CHECK(cost.barriers == 1);
}

TEST_CASE("warpgroup: the cost of a pair of blocks, by hand") {
  // One tile of 64 filters; a piece of 32 channels for each block, which then stores 32 filters.
  const ConvLayer layer({.C = 64, .H = 8, .W = 8, .K = 64, .R = 1, .S = 1});
  test::counting_backend();
  const Cost cost = with_tile("warpgroup_64_p2").prepared(layer).cost();
  CHECK(cost.launches == std::vector<LaunchFigures>{{1, 2, 512, 213'088}});
  CHECK(cost.bulk_load_requests == 2);
  CHECK(cost.global_store_requests == 64);
  // The sums of a filter that the other block has: 512 bytes, of every second one from the middle of a sector on.
  CHECK(cost.dshared_load_requests == 64);
  CHECK(cost.dshared_load_sectors == 32 * 16 + 32 * 17);
  CHECK(cost.barriers == 2 * 2);  // at the begin and at the end
}

TEST_CASE("warpgroup: sums of one sign err less than a chain of multiply-adds in float") {
  // Tensor cores cut sums off towards zero: with positive factors the cuts would add up.
  const ConvLayer layer({.C = 2048, .H = 4, .W = 4, .K = 8, .R = 1, .S = 1});
  std::mt19937_64 random(test::seed());
  const std::vector<float> input = test::positive_values(layer.input_size(), random);
  const std::vector<float> filters = test::positive_values(layer.filters_size(), random);
  const std::vector<float> found = test::outputs_of(convolve::warpgroup(), layer, input, filters);
  double own = 0, of_chain = 0;
  for (std::int64_t i = 0; i < layer.output_size(); ++i) {
    const double expected = conv::output_reference(layer, input, filters, i).value;
    const std::int64_t pixels = layer.H() * layer.W(), k = i / pixels, m = i % pixels;
    float chain = 0;
    for (std::int64_t c = 0; c < layer.C(); ++c) {
      chain = std::fma(filters[static_cast<std::size_t>(k * layer.C() + c)],
                       input[static_cast<std::size_t>(c * pixels + m)], chain);
    }
    own = std::max(own, std::abs(found[static_cast<std::size_t>(i)] - expected));
    of_chain = std::max(of_chain, std::abs(chain - expected));
  }
  CHECK(own < of_chain);
}
