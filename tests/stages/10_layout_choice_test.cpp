#include <cmath>

#include "stages/10_layout_convolution/layout_choice.hpp"
#include "tests/catch.hpp"

using namespace halo::layout_convolution;
using halo::conv::Layout;

namespace {

const Thresholds kTitanBlack = published_thresholds_of("gtxtitanblack");
const Thresholds kTitanX = published_thresholds_of("gtxtitanx");

// The convolutions of the paper's Table 1.
struct Layer {
  const char* name;
  std::int64_t C, N;
};
constexpr Layer kLayers[] = {{"CV1", 1, 128},   {"CV2", 16, 128},  {"CV3", 3, 128},
                             {"CV4", 64, 128},  {"CV5", 3, 64},    {"CV6", 96, 64},
                             {"CV7", 256, 64},  {"CV8", 384, 64},  {"CV9", 3, 32},
                             {"CV10", 128, 32}, {"CV11", 256, 32}, {"CV12", 512, 32}};

bool near(double a, double b) { return std::fabs(a - b) < 1e-12 * std::fabs(b); }

// Layers that take 1 ms in the layout of the rule with these thresholds, and 2 in the other.
std::vector<LayerTimes> layers_of_rule(const Thresholds& thresholds) {
  std::vector<LayerTimes> layers;
  for (const Layer& layer : kLayers) {
    const bool chwn = chosen_layout(thresholds, layer.C, layer.N) == Layout::chwn;
    layers.push_back({layer.name, layer.C, layer.N, chwn ? 1.0 : 2.0, chwn ? 2.0 : 1.0});
  }
  return layers;
}

}  // namespace

TEST_CASE("layout choice: the published thresholds, on the paper's layers") {
  CHECK(kTitanBlack == Thresholds{"Titan Black", 32, 128});
  CHECK(kTitanX == Thresholds{"Titan X", 128, 64});
  CHECK(published_thresholds() == std::vector{kTitanBlack, kTitanX});
  CHECK_THROWS_AS(published_thresholds_of("h200"), std::invalid_argument);

  // Fig. 3, on a Titan Black: cuda-convnet is faster on CV1 to CV5 and CV9. The rule says just that.
  for (const Layer& layer : kLayers) {
    INFO(layer.name);
    const std::string name = layer.name;
    const bool faster = name.size() == 3 && (name[2] <= '5' || name[2] == '9');
    CHECK((chosen_layout(kTitanBlack, layer.C, layer.N) == Layout::chwn) == faster);
  }
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
      {"a", 3, 128, 1, 4},   // CHWN, right
      {"b", 256, 64, 6, 2},  // NCHW on a Titan Black, right; CHWN on a Titan X, three times as long
      {"c", 16, 32, 5, 4},   // CHWN, wrong
      {"d", 256, 128, 3, 3},  // either is right
  };
  const Judgement black = judge(kTitanBlack, layers);
  CHECK(black.layers == 4);
  CHECK(black.right == 3);
  CHECK(near(black.chosen_ms, 1 + 2 + 5 + 3));
  CHECK(near(black.best_ms, 1 + 2 + 4 + 3));
  CHECK(near(black.regret(), 0.1));
  CHECK(near(black.worst, 1.25));
  CHECK(black.worst_layer == "c");
  const Judgement x = judge(kTitanX, layers);
  CHECK(x.right == 2);
  CHECK(near(x.chosen_ms, 1 + 6 + 5 + 3));
  CHECK(near(x.worst, 3));
  CHECK(x.worst_layer == "b");

  CHECK_THROWS_AS(judge(kTitanX, {}), std::invalid_argument);
  CHECK_THROWS_AS(fit({}), std::invalid_argument);
  const double no_time = std::nan("");
  for (const LayerTimes& bad :
       {LayerTimes{"C", 0, 1, 1, 1}, LayerTimes{"N", 1, 0, 1, 1}, LayerTimes{"zero", 1, 1, 0, 1},
        LayerTimes{"nan", 1, 1, 1, no_time}}) {
    INFO(bad.name);
    CHECK_THROWS_AS(judge(kTitanX, std::vector{bad}), std::invalid_argument);
    CHECK_THROWS_AS(fit(std::vector{bad}), std::invalid_argument);
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
    CHECK(near(found.judgement.chosen_ms, 12));
    CHECK(found.judgement.worst_layer.empty());
    for (const LayerTimes& layer : layers) {
      INFO(layer.name);
      const Layout chosen = chosen_layout(made_by, layer.C, layer.N);
      CHECK(chosen_layout(found.thresholds, layer.C, layer.N) == chosen);
      // As low as it says the thresholds could be, they choose the same.
      const Thresholds lowest{"", found.lowest_Ct, found.lowest_Nt};
      CHECK(chosen_layout(lowest, layer.C, layer.N) == chosen);
    }
  }
  // C of 3 at N = 32 must be CHWN and C of 128 NCHW; N of 128 CHWN, N of 64 NCHW from C = 96 on. Of the
  // Ct that do, 16, 64 and 96, the smallest: C = 16 and 64 come with N = 128 only.
  const Fit black = fit(layers_of_rule(kTitanBlack));
  CHECK(black.thresholds == Thresholds{"fitted", 16, 128});
  CHECK(black.lowest_Ct == 4);
  CHECK(black.lowest_Nt == 65);
  // Nobody is to have CHWN: Ct the smallest C, Nt beyond the largest N.
  CHECK(fit(layers_of_rule({"never", 1, 1000})).thresholds == Thresholds{"fitted", 1, 129});
}

TEST_CASE("layout choice: where no thresholds are right everywhere, the costly layers decide") {
  // One of the two must be wrong: same C, same N.
  const std::vector<LayerTimes> twins = {{"short", 64, 64, 1, 3}, {"long", 64, 64, 50, 10}};
  const Fit found = fit(twins);
  CHECK(chosen_layout(found.thresholds, 64, 64) == Layout::nchw);
  CHECK(found.judgement.right == 1);
  CHECK(near(found.judgement.chosen_ms, 13));
  CHECK(near(found.judgement.best_ms, 11));
  CHECK(found.judgement.worst_layer == "short");

  // No pair of thresholds on a grid is better than the fit.
  std::vector<LayerTimes> layers;
  for (int i = 0; i < 12; ++i) {
    layers.push_back({kLayers[i].name, kLayers[i].C, kLayers[i].N, 1.0 + (i * 7 + 3) % 11,
                      1.0 + (i * 5 + 1) % 13});
  }
  const Fit best = fit(layers);
  for (std::int64_t Ct = 1; Ct < 600; ++Ct) {
    for (const std::int64_t Nt : {1, 32, 33, 64, 65, 100, 128, 129}) {
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
