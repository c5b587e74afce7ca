#include "common/network/layout_choice.hpp"

#include <cmath>
#include <stdexcept>

#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo::network;
using halo::conv::ConvLayer;
using halo::conv::Layout;

namespace {

const Thresholds kTitanBlack = published_thresholds_of("gtxtitanblack");
const Thresholds kTitanX = published_thresholds_of("gtxtitanx");

// C and N are all that the rule looks at.
ConvLayer layer_with(int C, int N) {
  return ConvLayer({.N = N, .C = C, .H = 3, .W = 3, .R = 1, .S = 1});
}

// Of the paper's Table 1.
const std::vector<ConvLayer> kLayers = [] {
  std::vector<ConvLayer> layers;
  for (const auto& named : halo::data::paper_layer_table("sc16")) layers.push_back(named.layer);
  return layers;
}();

Layout chosen(const Thresholds& thresholds, const ConvLayer& layer) {
  return chosen_layout(thresholds, layer.C(), layer.N());
}

bool near(double a, double b) { return std::fabs(a - b) < 1e-12 * std::fabs(b); }

// Layers that take 1 ms in the layout of the rule with these thresholds, and 2 in the other.
std::vector<LayerTimes> layers_of_rule(const Thresholds& thresholds) {
  std::vector<LayerTimes> layers;
  for (const ConvLayer& layer : kLayers) {
    const bool chwn = chosen(thresholds, layer) == Layout::chwn;
    layers.push_back({layer, chwn ? 1.0 : 2.0, chwn ? 2.0 : 1.0});
  }
  return layers;
}

}  // namespace

TEST_CASE("layout choice: the rule with Titan Black's thresholds says what Fig. 3 shows") {
  // cuda-convnet is faster on CV1 to CV5 and CV9, on that GPU.
  for (const auto& named : halo::data::paper_layer_table("sc16")) {
    INFO(named.network);
    const auto at = named.network.find("CV");
    REQUIRE(at != std::string::npos);
    const int number = std::stoi(named.network.substr(at + 2));
    const bool faster = number <= 5 || number == 9;
    CHECK((chosen(kTitanBlack, named.layer) == Layout::chwn) == faster);
  }
}

TEST_CASE("layout choice: the published thresholds") {
  CHECK(kTitanBlack == Thresholds{"Titan Black", 32, 128});
  CHECK(kTitanX == Thresholds{"Titan X", 128, 64});
  CHECK(published_thresholds() == std::vector{kTitanBlack, kTitanX});
  CHECK_THROWS_AS(published_thresholds_of("h200"), std::invalid_argument);
}

TEST_CASE("layout choice: both halves of the rule, at their edges") {
  CHECK(chosen_layout(kTitanBlack, 31, 1) == Layout::chwn);
  CHECK(chosen_layout(kTitanBlack, 32, 1) == Layout::nchw);
  CHECK(chosen_layout(kTitanBlack, 512, 127) == Layout::nchw);
  CHECK(chosen_layout(kTitanBlack, 512, 128) == Layout::chwn);  // >= , not >
  CHECK(chosen_layout(kTitanX, 127, 63) == Layout::chwn);
  CHECK(chosen_layout(kTitanX, 128, 63) == Layout::nchw);
  CHECK(chosen_layout(kTitanX, 128, 64) == Layout::chwn);
}

TEST_CASE("layout choice: what thresholds cost") {
  const std::vector<LayerTimes> layers = {
      {layer_with(3, 128), 1, 4},    // CHWN, right
      {layer_with(256, 64), 6, 2},   // NCHW on a Titan Black, right; CHWN on a Titan X, wrong
      {layer_with(16, 32), 5, 4},    // CHWN, wrong
      {layer_with(256, 128), 3, 3},  // either is right
  };
  const Judgement black = judge(kTitanBlack, layers);
  CHECK(black.layers == 4);
  CHECK(black.right == 3);
  CHECK(near(black.chosen_ms, 1 + 2 + 5 + 3));
  CHECK(near(black.best_ms, 1 + 2 + 4 + 3));
  CHECK(near(black.regret(), 0.1));
  CHECK(near(black.worst, 1.25));
  CHECK(black.worst_layer == label(layers[2].layer));
  const Judgement x = judge(kTitanX, layers);
  CHECK(x.right == 2);
  CHECK(near(x.chosen_ms, 1 + 6 + 5 + 3));
  CHECK(near(x.worst, 3));
  CHECK(x.worst_layer == label(layers[1].layer));

  CHECK_THROWS_AS(judge(kTitanX, {}), std::invalid_argument);
  CHECK_THROWS_AS(fit({}), std::invalid_argument);
  const double no_time = std::nan("");
  for (const double bad : {0.0, -1.0, no_time}) {
    for (const LayerTimes& times :
         {LayerTimes{layer_with(1, 1), bad, 1}, LayerTimes{layer_with(1, 1), 1, bad}}) {
      CHECK_THROWS_AS(judge(kTitanX, std::vector{times}), std::invalid_argument);
      CHECK_THROWS_AS(fit(std::vector{times}), std::invalid_argument);
    }
  }
}

TEST_CASE("layout choice: a fit finds the rule that made the times") {
  for (const Thresholds& made_by :
       {kTitanBlack, kTitanX, Thresholds{"never", 1, 1000}, Thresholds{"always", 1000, 1},
        Thresholds{"by C", 97, 1000}, Thresholds{"by N", 1, 64}}) {
    INFO(made_by.name);
    const std::vector<LayerTimes> layers = layers_of_rule(made_by);
    const Fit found = fit(layers);
    CHECK(found.judgement.right == found.judgement.layers);
    CHECK(near(found.judgement.chosen_ms, static_cast<double>(layers.size())));
    CHECK(found.judgement.worst_layer.empty());
    // As low as it says the thresholds could be, they choose the same.
    const Thresholds lowest{"", found.lowest_Ct, found.lowest_Nt};
    for (const LayerTimes& each : layers) {
      INFO(label(each.layer));
      const Layout wanted = chosen(made_by, each.layer);
      CHECK(chosen(found.thresholds, each.layer) == wanted);
      CHECK(chosen(lowest, each.layer) == wanted);
    }
  }
  // C of 3 is CHWN at N = 32 and 64, C of 96 and more is not; 16 and 64 come with N = 128 only, where
  // all are CHWN. So Ct may be 16, 64 or 96: the smallest.
  const Fit black = fit(layers_of_rule(kTitanBlack));
  CHECK(black.thresholds.Ct == 16);
  CHECK(black.thresholds.Nt == 128);
  CHECK(black.lowest_Ct == 4);
  CHECK(black.lowest_Nt == 65);
  // Nobody is to have CHWN: Ct the smallest C, Nt beyond the largest N.
  const Fit never = fit(layers_of_rule({"never", 1, 1000}));
  CHECK(never.thresholds.Ct == 1);
  CHECK(never.thresholds.Nt == 129);
}

TEST_CASE("layout choice: where no thresholds are right everywhere, the costly layers decide") {
  // One of the two must be wrong: same C, same N.
  const std::vector<LayerTimes> twins = {{layer_with(64, 64), 1, 3}, {layer_with(64, 64), 50, 10}};
  const Fit found = fit(twins);
  CHECK(chosen_layout(found.thresholds, 64, 64) == Layout::nchw);
  CHECK(found.judgement.right == 1);
  CHECK(near(found.judgement.chosen_ms, 13));
  CHECK(near(found.judgement.best_ms, 11));
  CHECK(near(found.judgement.worst, 3));

  // No pair of thresholds on a grid is better than the fit.
  std::vector<LayerTimes> layers;
  for (std::size_t i = 0; i < kLayers.size(); ++i) {
    layers.push_back({kLayers[i], 1.0 + (i * 7 + 3) % 11, 1.0 + (i * 5 + 1) % 13});
  }
  const Fit best = fit(layers);
  for (int Ct = 1; Ct < 600; ++Ct) {
    for (const int Nt : {1, 32, 33, 64, 65, 100, 128, 129}) {
      REQUIRE(judge({"", Ct, Nt}, layers).chosen_ms >= best.judgement.chosen_ms);
    }
  }
}

TEST_CASE("layout choice: the words of the rule") {
  const halo::conv::ConvLayer cv4 = halo::conv::parse_label("12-128-5-64-64");
  CHECK(explain(cv4, std::vector{kTitanBlack, kTitanX}) ==
        "layer 12-128-5-64-64: C 64, N 128; CHWN if C < Ct or N >= Nt\n"
        "  Titan Black  CHWN: N >= 128\n"
        "  Titan X      CHWN: C < 128 and N >= 64\n");
}
