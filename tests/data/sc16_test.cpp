// What Li et al. (SC'16) evaluate beside convolution layers, and what they publish.
#include "common/data/sc16.hpp"

#include <map>
#include <set>

#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"
#include "tests/data/files.hpp"

using namespace halo;
using conv::Layout;
using conv::PoolingLayer;
using data::sc16_problem;
using test::contains;
using test::error_of;

namespace {

template <class Problem>
std::set<std::string> labels_of(const std::vector<data::Sc16Problem<Problem>>& problems) {
  std::set<std::string> labels;
  for (const auto& one : problems) {
    CHECK_FALSE(one.name.empty());
    CHECK_FALSE(one.source.empty());
    labels.insert(label(one.problem));
  }
  CHECK(labels.size() == problems.size());  // none stands twice
  return labels;
}

}  // namespace

TEST_CASE("the pooling layers lead from one map of their networks to the next", "[sc16]") {
  const auto& layers = data::sc16_pooling();
  labels_of(layers);
  REQUIRE(layers.size() == 10);
  // N, C, H, window as printed; P is the next row's map, or the networks' own where there is none.
  const int table[][5] = {{128, 16, 28, 2, 14}, {128, 16, 14, 2, 7},  {128, 64, 24, 3, 12},
                          {128, 64, 12, 3, 6},  {128, 96, 55, 3, 27}, {128, 192, 27, 3, 13},
                          {128, 256, 13, 3, 6}, {64, 96, 110, 3, 55}, {64, 256, 26, 3, 13},
                          {64, 256, 13, 3, 6}};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const PoolingLayer& layer = layers[i].problem;
    INFO(layers[i].name);
    CHECK(layers[i].name == "PL" + std::to_string(i + 1));
    CHECK(std::vector<int>{layer.N(), layer.C(), layer.H(), layer.R(), layer.P()} ==
          std::vector<int>(table[i], table[i] + 5));
    CHECK(layer.kind() == conv::Pooling::max);
    CHECK(layer.stride_h() == 2);
    CHECK(layer.padding_h() == 0);
    CHECK(layer.Q() == layer.P());
    // Where it says that it rounds up, it makes a difference.
    conv::PoolingShape shape = layer.shape();
    shape.rounding = conv::Rounding::floor;
    CHECK((PoolingLayer(shape).P() == layer.P()) == (layer.rounding() == conv::Rounding::floor));
  }
  CHECK(label(sc16_problem(layers, "PL5")) == "55-128-3-96-s2");
  CHECK(label(sc16_problem(layers, "PL8")) == "110-64-3-96-s2-ceil");
  CHECK_THAT(error_of([&] { sc16_problem(layers, "PL11"); }),
             contains("no problem 'PL11' of Li et al. (SC'16); there are: PL1, PL2,"));
}

TEST_CASE("the softmax problems are the paper's layers within its grid, and larger ones",
          "[sc16]") {
  const auto& problems = data::sc16_softmax();
  const std::set<std::string> labels = labels_of(problems);
  for (const char* images : {"32", "64", "128"}) {
    for (const char* categories : {"10", "100", "1000", "10000"}) {
      CHECK(labels.contains(std::string(images) + "x" + categories));
    }
  }
  CHECK(label(sc16_problem(problems, "CLASS1+CLASS2")) == "128x10");
  CHECK(label(sc16_problem(problems, "CLASS3")) == "128x1000");
  CHECK(label(sc16_problem(problems, "CLASS4")) == "64x1000");
  CHECK(label(sc16_problem(problems, "CLASS5")) == "32x1000");
  int ours = 0;
  for (const auto& one : problems) ours += one.source == "ours";
  CHECK(problems.size() == 12 + 5);
  CHECK(ours == 5);
  CHECK(sc16_problem(problems, "65536x16384").input_size() == std::int64_t{1} << 30);
}

TEST_CASE("the transforms are the inputs of the paper's layers, both ways, and large ones",
          "[sc16]") {
  const auto& transforms = data::sc16_transforms();
  labels_of(transforms);
  std::map<std::string, int> ways;
  for (const auto& one : transforms) {
    ways[one.name] += one.problem.from() == Layout::chwn ? 1 : 10;
    if (one.source != "ours") continue;
    const auto bytes = static_cast<double>(4 * one.problem.input_size());
    INFO(one.name);
    CHECK(bytes > 250e6);
    CHECK(bytes < 275e6);
  }
  CHECK(ways.size() == 12 + 5);
  for (const auto& [name, both] : ways) {
    INFO(name);
    CHECK(both == 11);
  }
  for (const data::NamedLayer& named : data::paper_layer_table("sc16")) {
    // "ZFNet CV5 with 7x7" reads what CV5 reads.
    const std::string name = named.network.substr(named.network.find(' ') + 1, 4);
    const conv::Images& images =
        sc16_problem(transforms, name.back() == ' ' ? name.substr(0, 3) : name).images();
    INFO(named.network);
    CHECK(images.N() == named.layer.N());
    CHECK(images.size() == named.layer.input_size());
  }
  CHECK(label(sc16_problem(transforms, "CV6")) == "55-64-96-to-nchw");
  CHECK_THAT(error_of([&] { sc16_problem(transforms, "CV13"); }), contains("there are: CV1, CV2,"));
}
