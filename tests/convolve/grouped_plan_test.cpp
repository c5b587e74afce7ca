#include "common/convolve/grouped/plan.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

namespace {

const gpus::GpuLimits kH200 = gpus::limits_of(gpus::built_in_gpu("h200"));

// Size, stride, filters, rows and columns.
std::vector<int> shape(const char* label) {
  const GroupedPlan plan = plan_grouped(conv::parse_label(label), kH200);
  INFO(plan.refusal);
  REQUIRE(plan.refusal.empty());
  const GroupedShape& s = plan.shape;
  return {s.size, s.stride, s.filters, s.rows, s.columns};
}

}  // namespace

TEST_CASE(
    "grouped: depthwise filters one by one, those of larger groups in sets of four or eight") {
  CHECK(shape("56-32-3-144-144-g144") == std::vector<int>{3, 1, 1, 4, 4});
  CHECK(shape("56-32-3-128-128-g32") == std::vector<int>{3, 1, 4, 2, 4});
  CHECK(shape("28-32-3-256-256-g32") == std::vector<int>{3, 1, 8, 1, 4});
  CHECK(shape("14-32-3-512-512-g32") == std::vector<int>{3, 1, 8, 4, 1});
  CHECK(shape("56-32-3-64-32-g32")[2] == 1);  // two of a group
  // Where there are too few threads, one by one all the same.
  CHECK(shape("14-1-3-512-512-g32")[2] == 1);
}

TEST_CASE(
    "grouped: rows are several only where there is work for all SMs, and no stride or dilation of "
    "theirs") {
  CHECK(shape("112-32-3-96-96-s2-g96") == std::vector<int>{3, 2, 1, 2, 2});
  CHECK(shape("14-1-3-576-576-s2-g576") == std::vector<int>{3, 2, 1, 1, 2});
  CHECK(shape("14-32-5-672-672-s2-g672") == std::vector<int>{5, 2, 1, 2, 2});
  // Odd rows, and others than a stride takes in pairs.
  CHECK(shape("15-32-3-576-576-s2-g576") == std::vector<int>{3, 2, 1, 2, 1});
  CHECK(shape("14-32-3-576-576-s2-p0-g576") == std::vector<int>{3, 2, 1, 2, 1});
  CHECK(shape("14-32-3-576-576-s1x2-g576") == std::vector<int>{3, 0, 1, 1, 1});
  CHECK(shape("14-1-3-384-384-g384") == std::vector<int>{3, 1, 1, 4, 1});
  // As many threads of a quad: of one channel it has four rows, of four channels one.
  CHECK(shape("112-1-3-32-32-g32") == std::vector<int>{3, 1, 1, 4, 4});
  CHECK(shape("56-1-3-128-128-g32") == std::vector<int>{3, 1, 1, 1, 4});
  CHECK(shape("14-1-3-512-512-g32") == std::vector<int>{3, 1, 1, 4, 1});
  CHECK(shape("7-1-3-960-960-g960") == std::vector<int>{3, 0, 1, 1, 1});
  CHECK(shape("7-1-3-12-12-g12") == std::vector<int>{3, 0, 1, 1, 1});
  CHECK(shape("14-32-3-384-384-g384-d2") == std::vector<int>{3, 0, 1, 1, 1});
  CHECK(shape("56-32-7-96-96-g96") == std::vector<int>{7, 1, 1, 2, 4});
  CHECK(shape("28-32-3x5-96-96-g96") == std::vector<int>{0, 0, 1, 1, 1});
}

TEST_CASE("grouped: a plane of 1 x 1 filters is one row") {
  CHECK(shape("14-32-1-240-240-g3") == std::vector<int>{1, 1, 8, 1, 4});
  CHECK(shape("7-32-1-480-480-g3") == std::vector<int>{1, 0, 8, 1, 1});
  CHECK(plan_grouped(conv::parse_label("14-32-1-240-240-g3"), kH200).division.P == 1);
}

TEST_CASE("grouped: threads and packed filters, by hand") {
  // 512 maps of 7 x 7 outputs, a thread each, in blocks of 128.
  const GroupedPlan plan = plan_grouped(conv::parse_label("7-1-3-512-512-g512"), kH200);
  CHECK(plan.blocks == 512 * 49 / 128);
  CHECK(plan.packed_floats == 512 * 12);
  // Ten filters of a group: a set of eight and one of two.
  const GroupedPlan sets = plan_grouped(conv::parse_label("7-1-3-20-6-g2"), {3, 0, 8, 1, 1});
  CHECK(sets.division.units == 4 * 49);
  CHECK(sets.packed_floats == 4 * 3 * 72);
  CHECK(plan_grouped(conv::parse_label("7-1-3-20-6-g2"), {3, 2, 8, 2, 1}).refusal ==
        "it is made for other filters, strides or rows");
}

TEST_CASE("grouped: traffic, by hand") {
  // Two channels of 4 x 4, 3 x 3: a thread has a quad of a row, 8 of a warp.
  const ConvLayer layer = conv::parse_label("4-1-3-2-2-g2");
  const GroupedPlan plan = plan_grouped(layer, kH200);
  REQUIRE(plan.shape == GroupedShape{3, 1, 1, 1, 4});
  const Cost cost = grouped_cost(layer, plan);
  // Three rows of the windows, with no quads beside them; taps in three quads.
  CHECK(cost.global_load_requests == 3 + 3);
  // Of each map two rows a sector. Taps of two filters, three quads apart.
  CHECK(cost.global_load_sectors == 2 * 3 * 2 + 3 * 2);
  CHECK(cost.global_store_requests == 1);
  CHECK(cost.global_store_sectors == 2 * 2);
  CHECK(grouped_bias_cost(layer, plan).global_load_requests == 1);
  // Stride 2 on 6 x 6: of three columns of outputs two threads have two and one.
  const ConvLayer strided = conv::parse_label("6-1-3-2-2-s2-g2");
  const GroupedPlan pairs = plan_grouped(strided, {3, 2, 1, 2, 2});
  REQUIRE(pairs.refusal.empty());
  CHECK(pairs.division.units == 2 * 2 * 2);
  // Three pairs of each of five rows, and three quads of taps; outputs one by one, where rows are odd.
  const Cost of_pairs = grouped_cost(strided, pairs);
  CHECK(of_pairs.global_load_requests == 5 * 3 + 3);
  CHECK(of_pairs.global_store_requests == 2 * 2);
}
