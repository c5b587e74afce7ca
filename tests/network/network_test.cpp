// Networks and plans, without kernels.
#include <algorithm>
#include <stdexcept>

#include "common/conv/inputs.hpp"
#include "common/network/networks.hpp"
#include "common/network/plan.hpp"
#include "tests/catch.hpp"

namespace halo::network {

using conv::Layout;
using test::seed;

// ---- Networks ----

TEST_CASE("networks have the shapes of the published ones and of the paper's table") {
  struct Expected {
    const char* name;
    std::int64_t weights;
    const char* layer;
    int channels, height;  // that it writes
  };
  // The sums of weights are those that the authors' or PyTorch's models have: VGG-16 138,357,544; AlexNet
  // without groups 62,378,344.
  for (const Expected& e :
       {Expected{"digits", 13706, "pool2", 32, 2},
        {"lenet", 416 + 6416 + 94200 + 10164 + 850, "pool2", 16, 7},
        {"cifar10", 4864 + 102464 + 885120 + 73920 + 1930, "pool1", 64, 12},
        {"alexnet", 62378344, "pool5", 256, 6},
        {"zfnet", 14208 + 614656 + 885120 + 1327488 + 884992 + 37752832 + 16781312 + 4097000,
         "pool1", 96, 55},
        {"vgg", 138357544, "pool5", 512, 7}}) {
    INFO(e.name);
    const Network network = make_network(e.name, 2);
    CHECK(network.weights() == e.weights);
    CHECK(network.images() == 2);
    const auto& layers = network.layers();
    const auto at = std::find_if(layers.begin(), layers.end(),
                                 [&](const Layer& layer) { return layer.name == e.layer; });
    REQUIRE(at != layers.end());
    CHECK(output_of(*at) == conv::Images({2, e.channels, e.height, e.height}));
  }
}

TEST_CASE("a network that does not fit together is refused in one line") {
  const auto complaint = [](const auto& make) -> std::string {
    try {
      make();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint([] { make_network("resnet", 1); }).starts_with("there is no network 'resnet'"));
  CHECK(complaint([] { Network("empty", {}); }) == "network empty has no layers");
  CHECK(complaint([] {
          NetworkBuilder("wide", {1, 1, 4, 4}).convolution("conv1", 1, 5);
        }).starts_with("network wide, layer conv1: "));
  CHECK(complaint([] {
          NetworkBuilder("map", {1, 3, 4, 4}).softmax();
        }).starts_with("network map, layer softmax: "));
  CHECK(complaint([] {
          Network("gap", {{"s", conv::Softmax(1, 3)}, {"t", conv::Softmax(1, 4)}});
        }) == "network gap: layer t does not read what layer s writes");
  CHECK(complaint([] {
          NetworkBuilder("open", {1, 1, 4, 4}).fully_connected("fc1", 3).build();
        }) == "network open does not end with a softmax");
}

// ---- Plans ----

namespace {

// Costs for a network of `count` layers and a softmax, drawn from a seed: kernels in one layout only, no
// transform one way, and costs with many ties.
Costs random_costs(int count, std::uint64_t number) {
  conv::Random random(number);
  std::vector<Layer> layers;
  for (int i = 0; i < count; ++i) {
    layers.push_back({"pool" + std::to_string(i),
                      conv::PoolingLayer({.N = 2, .C = 3, .H = 1, .W = 1, .R = 1, .S = 1})});
  }
  layers.push_back({"softmax", conv::Softmax(2, 3)});
  Costs costs{Network("random", layers), "MB", {}};
  const auto option = [&](Layout from, Layout to) {
    Option made;
    made.kernel.name = "k";
    made.kernel.from = from;
    made.kernel.to = to;
    made.price.cost = static_cast<double>(random.below(12));
    if (random.below(8) == 0) made.price.cost = kNever;
    return made;
  };
  for (int i = 0; i <= count; ++i) {
    LayerOptions here;
    here.same_memory = random.below(6) == 0;
    here.needs_bias = i < count && random.below(2) == 0;
    for (const Layout layout : {Layout::nchw, Layout::chwn}) {
      const auto index = static_cast<std::size_t>(layout);
      if (i == count && layout == Layout::chwn) continue;
      for (std::uint64_t k = random.below(3) + (i == count); k > 0; --k) {
        here.kernels.push_back(option(layout, layout));
        here.kernels.back().kernel.adds_bias = random.below(4) == 0;
        if (i == count) here.kernels.back().price.cost = 1;
      }
      here.bias[index].push_back(option(layout, layout));
      here.transforms[index].push_back(option(other(layout), layout));
    }
    for (std::uint64_t k = random.below(3); k > 0 && i < count; --k) {
      const auto behind = random.below(static_cast<std::uint64_t>(count - i)) + 1;
      here.several.push_back(option(Layout::nchw, Layout::nchw));
      here.several.back().kernel.name = "several";
      here.several.back().kernel.of_layers.resize(1 + static_cast<std::size_t>(behind));
    }
    costs.layers.push_back(here);
  }
  return costs;
}

// The cheapest of all plans, each tried.
double by_trying(const Costs& costs, std::size_t layer, Layout before, const LayoutRule& rule) {
  if (layer == costs.layers.size()) return 0;
  const LayerOptions& options = costs.layers[layer];
  double best = kNever;
  for (const Option& several : options.several) {
    const std::size_t end = layer + several.kernel.of_layers.size();
    bool all_in_nchw = true;
    for (std::size_t i = layer; i < end; ++i) {
      all_in_nchw = all_in_nchw && rule(costs.network.layers()[i], Layout::nchw);
    }
    if (!all_in_nchw) continue;
    double own = several.price.cost;
    if (before != Layout::nchw && !options.same_memory) {
      own += options.transforms[0].front().price.cost;
    }
    best = std::min(best, own + by_trying(costs, end, Layout::nchw, rule));
  }
  for (const Option& kernel : options.kernels) {
    const Layout layout = kernel.kernel.from;
    if (!rule(costs.network.layers()[layer], layout)) continue;
    double own = kernel.price.cost;
    if (options.needs_bias && !kernel.kernel.adds_bias) {
      own += options.bias[static_cast<std::size_t>(layout)].front().price.cost;
    }
    if (layout != before && !options.same_memory) {
      own += options.transforms[static_cast<std::size_t>(layout)].front().price.cost;
    }
    best = std::min(best, own + by_trying(costs, layer + 1, layout, rule));
  }
  return best;
}

}  // namespace

TEST_CASE("the plan is the cheapest of all that there are") {
  int impossible = 0, with_transforms = 0, together = 0;
  bool goes_on = false;  // behind a kernel of several layers
  for (std::uint64_t number = 0; number < 400; ++number) {
    const Costs costs = random_costs(1 + static_cast<int>(number % 6), seed() + number);
    for (const LayoutRule& rule :
         {LayoutRule(any_layout), only(Layout::nchw), only(Layout::chwn)}) {
      const double least = by_trying(costs, 0, Layout::nchw, rule);
      INFO("number " << number << ", least " << least);
      if (least == kNever) {
        ++impossible;
        CHECK_THROWS_AS(cheapest_plan(costs, rule), std::runtime_error);
        continue;
      }
      const Plan plan = cheapest_plan(costs, rule);
      CHECK(plan.cost == least);
      // It is a plan: its parts add up, and a transform stands where the layout changes.
      double sum = 0;
      Layout before = Layout::nchw;
      std::size_t rest = 0;  // layers that the kernel before still stands for
      for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const PlannedLayer& layer = plan.layers[i];
        sum += layer.cost();
        if (layer.kernel != nullptr) rest = layer.kernel->kernel.of_layers.size();
        if (rest > 0) {
          // One kernel of several layers, and those that are done with it.
          ++together;
          CHECK(layer.layout == Layout::nchw);
          CHECK(layer.bias == nullptr);
          before = Layout::nchw;
          --rest;
          goes_on |= rest == 0 && i + 1 < plan.layers.size();
          continue;
        }
        REQUIRE(layer.kernel != nullptr);
        CHECK(layer.kernel->kernel.from == layer.layout);
        CHECK((layer.transform != nullptr) ==
              (layer.layout != before && !costs.layers[i].same_memory));
        CHECK((layer.bias != nullptr) ==
              (costs.layers[i].needs_bias && !layer.kernel->kernel.adds_bias));
        before = layer.layout;
      }
      CHECK(sum == plan.cost);
      with_transforms += plan.transforms() > 0;
      for (const Excursion& each : excursions(costs, plan)) {
        if (rule(costs.network.layers()[each.first], Layout::nchw) &&
            rule(costs.network.layers()[each.first], Layout::chwn)) {
          CHECK(each.instead >= each.cost);
        }
      }
    }
  }
  CHECK(impossible > 0);
  CHECK(with_transforms > 0);
  CHECK(together > 0);
  CHECK(goes_on);
}

TEST_CASE("a transform is planned only where it pays") {
  // pool0 is 10 cheaper in CHWN, pool1 costs the same in both; there and back costs 9, then 11.
  for (const double each : {4.5, 5.5}) {
    Costs costs = random_costs(2, 1);
    const auto option = [](Layout from, Layout to, double cost) {
      Option made;
      made.kernel.from = from;
      made.kernel.to = to;
      made.price.cost = cost;
      return made;
    };
    const double chwn[] = {5, 3};
    const double nchw[] = {15, 3};
    for (std::size_t i = 0; i < 3; ++i) {
      LayerOptions& layer = costs.layers[i];
      layer = {};
      layer.kernels.push_back(option(Layout::nchw, Layout::nchw, i < 2 ? nchw[i] : 1));
      if (i < 2) layer.kernels.push_back(option(Layout::chwn, Layout::chwn, chwn[i]));
      layer.transforms[0] = {option(Layout::chwn, Layout::nchw, each)};
      layer.transforms[1] = {option(Layout::nchw, Layout::chwn, each)};
    }
    const Plan plan = cheapest_plan(costs, any_layout);
    if (each < 5) {
      CHECK(plan.transforms() == 2);
      CHECK(plan.cost == 5 + 3 + 1 + 2 * each);
      const std::vector<Excursion> all = excursions(costs, plan);
      REQUIRE(all.size() == 2);
      CHECK(all[0].first == 0);
      CHECK(all[0].transforms == 2 * each);
    } else {
      CHECK(plan.transforms() == 0);
      CHECK(plan.cost == 15 + 3 + 1);
    }
  }
}

}  // namespace halo::network
