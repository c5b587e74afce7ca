// Stage 13: its kernels, networks built of them in every layout, and digits that PyTorch answered.
#include "stages/13_network.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "common/conv/inputs.hpp"
#include "common/convolve/warpgroup/warpgroup.hpp"
#include "common/data/array.hpp"
#include "common/data/picture.hpp"
#include "common/gpus/present_gpu.hpp"
#include "common/network/chain.hpp"
#include "common/network/costs.hpp"
#include "common/network/digits.hpp"
#include "common/network/networks.hpp"
#include "common/report/json.hpp"
#include "stages/13_network/variants.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

namespace halo::network {

namespace {

using conv::Layout;
using test::seed;

constexpr std::int64_t kAllProducts = std::int64_t{1} << 40;  // judge every output

Conv2dStage fully_connected_stage() {
  Conv2dStage all{"13_network", fully_connected_variants(), {}};
  all.variants.push_back(convolve::warpgroup_fully_connected());
  return all;
}

conv::ConvLayer fully_connected_layer(int N, int C, int H, int W, int K) {
  return conv::ConvLayer({.N = N, .C = C, .H = H, .W = W, .K = K, .R = H, .S = W});
}

// ---- A reference for whole chains ----

// The true value of each cell, and how far a computation in float may be from it, with everything that the
// layers before may have been off by.
struct Known {
  std::vector<double> value;
  std::vector<double> off;
};

double bound_of_sum(std::int64_t terms, double scale) { return conv::error_bound(terms, scale); }

Known through(const Weighted& layer, const LayerWeights& weights, const Known& in) {
  const conv::ConvLayer& s = layer.sums;
  Known out;
  for (int n = 0; n < s.N(); ++n)
    for (int k = 0; k < s.K(); ++k)
      for (int p = 0; p < s.P(); ++p)
        for (int q = 0; q < s.Q(); ++q) {
          double sum = weights.bias[k];
          double off = 0, scale = std::fabs(weights.bias[k]);
          for (int c = 0; c < s.C(); ++c)
            for (int r = 0; r < s.R(); ++r)
              for (int t = 0; t < s.S(); ++t) {
                const int h = p * s.stride_h() - s.padding_h() + r;
                const int w = q * s.stride_w() - s.padding_w() + t;
                if (h < 0 || h >= s.H() || w < 0 || w >= s.W()) continue;
                const std::size_t cell = ((std::size_t(n) * s.C() + c) * s.H() + h) * s.W() + w;
                const double tap =
                    weights.filters[((std::size_t(k) * s.C() + c) * s.R() + r) * s.S() + t];
                sum += tap * in.value[cell];
                off += std::fabs(tap) * in.off[cell];
                scale += std::fabs(tap) * (std::fabs(in.value[cell]) + in.off[cell]);
              }
          // ReLU brings no two numbers further apart.
          out.value.push_back(layer.relu ? std::max(sum, 0.0) : sum);
          out.off.push_back(off + bound_of_sum(s.products_per_output() + 1, scale));
        }
  return out;
}

Known through(const conv::PoolingLayer& layer, const Known& in) {
  Known out;
  for (int n = 0; n < layer.N(); ++n)
    for (int c = 0; c < layer.C(); ++c)
      for (int p = 0; p < layer.P(); ++p)
        for (int q = 0; q < layer.Q(); ++q) {
          double largest = -INFINITY, sum = 0, off = 0, scale = 0;
          int count = 0;
          for (int r = 0; r < layer.R(); ++r)
            for (int t = 0; t < layer.S(); ++t) {
              const int h = p * layer.stride_h() - layer.padding_h() + r;
              const int w = q * layer.stride_w() - layer.padding_w() + t;
              if (h < 0 || h >= layer.H() || w < 0 || w >= layer.W()) continue;
              const std::size_t cell =
                  ((std::size_t(n) * layer.C() + c) * layer.H() + h) * layer.W() + w;
              largest = std::max(largest, in.value[cell]);
              sum += in.value[cell];
              scale += std::fabs(in.value[cell]) + in.off[cell];
              off = std::max(off, in.off[cell]);
              ++count;
            }
          const bool max = layer.kind() == conv::Pooling::max;
          out.value.push_back(max ? largest : sum / count);
          // An average: a sum of `count` terms and a division.
          out.off.push_back(max ? off : off + bound_of_sum(count + 1, scale / count));
        }
  return out;
}

// What the softmax reads, [N][categories].
Known true_logits(const Network& network, const Weights& weights, const std::vector<float>& input) {
  Known known{{input.begin(), input.end()}, std::vector<double>(input.size(), 0.0)};
  for (std::size_t i = 0; i < network.layers().size(); ++i) {
    const Layer& layer = network.layers()[i];
    if (const auto* weighted = std::get_if<Weighted>(&layer.work)) {
      known = through(*weighted, weights[i], known);
    } else if (const auto* pooling = std::get_if<conv::PoolingLayer>(&layer.work)) {
      known = through(*pooling, known);
    }
  }
  return known;
}

void require_within(const std::vector<float>& found, const Known& known) {
  REQUIRE(found.size() == known.value.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("logit " << i << ": " << found[i] << ", true " << known.value[i]);
    REQUIRE(std::fabs(found[i] - known.value[i]) <= known.off[i]);
  }
}

// A plan with layouts and kernels drawn from a seed: every kernel meets every neighbour sooner or later.
Plan random_plan(const Costs& costs, std::uint64_t number) {
  conv::Random random(number);
  Plan plan;
  Layout before = Layout::nchw;
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    const LayerOptions& options = costs.layers[i];
    PlannedLayer layer;
    if (!options.several.empty() && random.below(4) == 0) {
      if (before == Layout::chwn && !options.same_memory) {
        layer.transform = &options.transforms[0].front();
      }
      layer.kernel = &options.several[random.below(options.several.size())];
      plan.cost += layer.cost();
      plan.layers.push_back(layer);
      i += layer.kernel->kernel.of_layers.size() - 1;
      plan.layers.resize(i + 1);
      before = Layout::nchw;
      continue;
    }
    std::vector<const Option*> usable;
    for (const Option& option : options.kernels) {
      if (option.price.cost != kNever) usable.push_back(&option);
    }
    REQUIRE(!usable.empty());
    layer.kernel = usable[random.below(usable.size())];
    layer.layout = layer.kernel->kernel.from;
    const auto index = static_cast<std::size_t>(layer.layout);
    if (layer.layout != before && !options.same_memory) {
      const std::vector<Option>& list = options.transforms[index];
      REQUIRE(!list.empty());
      layer.transform = &list[random.below(list.size())];
    }
    if (options.needs_bias && !layer.kernel->kernel.adds_bias)
      layer.bias = &options.bias[index].front();
    before = layer.layout;
    plan.layers.push_back(layer);
    plan.cost += layer.cost();
  }
  return plan;
}

Costs counted(const Network& network, const MakeCatalogue& catalogue = stage().catalogue) {
  Progress progress;
  return price_network(network, catalogue, *counted_costs(), progress);
}

std::string text_of(const std::vector<LayerVerdict>& verdicts) {
  std::string text;
  for (const LayerVerdict& verdict : verdicts) {
    Row row;
    row.check = verdict.check;
    row.hazards = verdict.hazards;
    text += test::faults(row);
  }
  return text;
}

// ": conv1 by this kernel; pool1 by that one".
std::string kernels_of(const Chain& chain, const Plan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    text += (i == 0 ? ": " : "; ") + chain.describe(i);
  }
  return text;
}

void require_good(const std::vector<LayerVerdict>& verdicts) {
  INFO(text_of(verdicts));
  for (const LayerVerdict& verdict : verdicts) {
    CHECK(verdict.check.outcome == Outcome::good);
    CHECK(verdict.hazards.findings.empty());
    CHECK(!verdict.sampled);
  }
}

}  // namespace

// ---- Kernels ----

TEST_CASE("fully connected: right on all layers that it takes, no hazard") {
  test::LinesOf lines({"stages/13_network/2_", "stages/13_network/3_", "stages/13_network/6_"});
  test::require_trials(fully_connected_stage(), &lines);
  if (test::usable_backend()->observes()) test::require_all_lines(lines);
}

TEST_CASE("fully connected: counted traffic is predicted") {
  test::require_traffic(fully_connected_stage(), {
                                                     fully_connected_layer(1, 1, 1, 1, 1),
                                                     fully_connected_layer(64, 32, 1, 1, 64),
                                                     fully_connected_layer(65, 33, 1, 1, 65),
                                                     fully_connected_layer(130, 3, 5, 7, 67),
                                                     fully_connected_layer(3, 32, 2, 2, 64),
                                                     fully_connected_layer(1, 100, 1, 1, 10),
                                                     // By 16 bytes, by 4; more than one turn.
                                                     fully_connected_layer(1, 84, 4, 4, 9),
                                                     fully_connected_layer(1, 301, 1, 1, 17),
                                                     fully_connected_layer(7, 31, 3, 1, 9),
                                                 });
}

TEST_CASE("fully connected: the lanes' kernel and the tiled one are for different batches") {
  const auto cost = [](const std::string& name, int images) {
    for (const Conv2dVariant& variant : fully_connected_variants()) {
      if (variant.name != name) continue;
      return counted_bytes(variant.prepared(fully_connected_layer(images, 256, 6, 6, 4096)).cost());
    }
    return 0.0;
  };
  CHECK(cost("lanes_nchw", 1) < cost("tiled_nchw", 1));
  CHECK(cost("tiled_nchw", 128) < cost("lanes_nchw", 128));
  // One image: 9,216 x 4,096 taps of 4 bytes, and the image once for each output.
  CHECK(cost("lanes_nchw", 1) == 2 * 9216.0 * 4096 * 4 + 4096 * 32);
}

TEST_CASE("bias and ReLU, in place, in both layouts") {
  const auto backend = test::usable_backend();
  const BiasReluVariant variant = bias_relu_variant();
  backend->take_coverage();
  for (const conv::ImagesShape& shape : {conv::ImagesShape{1, 1, 1, 1},
                                         {2, 3, 5, 7},
                                         {33, 10, 1, 1},
                                         {1, 130, 1, 1},
                                         {4, 9, 8, 4},
                                         {3, 2, 40, 33},
                                         {257, 5, 1, 1}}) {
    for (const Layout layout : {Layout::nchw, Layout::chwn}) {
      for (const bool relu : {false, true}) {
        const BiasRelu problem{conv::Images(shape), layout, relu};
        const auto count = static_cast<std::size_t>(problem.images.size());
        conv::Random random(seed());
        const auto draw = [&] {
          return static_cast<float>(static_cast<double>(random.below(2001)) / 1000 - 1);
        };
        std::vector<float> data(count), bias(shape.C);
        for (float& value : data) value = draw();
        for (float& value : bias) value = draw();
        data.front() = NAN;
        if (count > 1) data.back() = -INFINITY;
        Array cells(*backend, count), biases(*backend, bias.size());
        cells.write(data);
        biases.write(bias);
        const Kernel kernel = variant.prepare(problem);
        Arrays arrays;
        arrays.output = cells.data();
        arrays.bias = biases.data();
        const Observation seen = backend->run([&] { return kernel.launch(arrays); });
        REQUIRE(seen.error.empty());
        CHECK(seen.hazards.empty());
        CHECK(cells.stray_write("cells").empty());
        std::vector<float> found(count);
        cells.read(found);
        for (int n = 0; n < shape.N; ++n)
          for (int c = 0; c < shape.C; ++c)
            for (int h = 0; h < shape.H; ++h)
              for (int w = 0; w < shape.W; ++w) {
                const auto i = static_cast<std::size_t>(conv::index_of(shape, layout, n, c, h, w));
                const float sum = data[i] + bias[c];
                if (std::isnan(sum)) {
                  REQUIRE(std::isnan(found[i]));  // not hidden by the ReLU
                } else {
                  REQUIRE(found[i] == (relu && sum < 0 ? 0.0f : sum));
                }
              }
        if (backend->observes()) {
          INFO(shape.N << " " << shape.C << " " << shape.H << " " << shape.W << " "
                       << to_string(layout));
          CHECK(backend->by_name(seen.cost) == backend->by_name(kernel.cost()));
        }
      }
    }
  }
  if (!backend->observes()) return;
  test::LinesOf lines({"stages/13_network/1_"});
  lines.add(backend->take_coverage());
  test::require_all_lines(lines);
}

// Which counters, in words.
std::string differences(const CounterList& counted, const CounterList& predicted) {
  REQUIRE(counted.size() == predicted.size());
  std::string text;
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (counted[i] == predicted[i]) continue;
    text += counted[i].first + " " + std::to_string(counted[i].second) + ", predicted " +
            std::to_string(predicted[i].second) + "; ";
  }
  return text;
}

bool pools(const Network& network) {
  return std::any_of(network.layers().begin(), network.layers().end(),
                     [](const Layer& layer) { return kind_of(layer) == Kind::pooling; });
}

// All layers of a network in one kernel: each of them right, and the traffic as predicted.
void require_several(Backend& backend, const Network& network, const Option& option) {
  INFO(network.layers().front().name << ", " << network.layers().size() << " layers, "
                                     << option.kernel.name);
  REQUIRE(option.kernel.of_layers.size() == network.layers().size());
  Plan plan;
  plan.layers.push_back({Layout::nchw, nullptr, &option, nullptr});
  plan.layers.resize(network.layers().size());
  const Weights weights = random_weights(network, seed());
  const DeviceWeights on_device(backend, network, weights);
  std::vector<float> input = random_input(network, seed());
  for (const bool spoiled : {false, true}) {
    // Pooling promises nothing of a NaN.
    if (spoiled && pools(network)) continue;
    if (spoiled) input.back() = NAN;
    Chain chain(backend, network, plan, weights, on_device, Keep::all);
    chain.set_input(input);
    std::vector<LayerVerdict> verdicts;
    REQUIRE(chain.check(verdicts, seed(), kAllProducts, true));
    require_good(verdicts);
    if (!backend.observes()) continue;
    Cost predicted;
    REQUIRE(chain.predict(0, predicted));
    CHECK(differences(backend.by_name(verdicts[0].counted), backend.by_name(predicted)) == "");
  }
}

TEST_CASE("layers on chip in one kernel: each of them right, and the traffic as predicted") {
  const auto backend = test::usable_backend();
  backend->take_coverage();
  const auto begins = [](int features) { return NetworkBuilder("chip", {3, features, 1, 1}); };
  const conv::Pooling average = conv::Pooling::average;
  const std::vector<Network> networks = {
      begins(4).fully_connected("fc1", 1, false).softmax().build(),
      begins(131).fully_connected("fc1", 29).softmax().build(),
      // Features that are no whole fours, of planes that are none; pooling of single outputs.
      NetworkBuilder("chip", {1, 4, 7, 5})
          .fully_connected("fc1", 13)
          .pooling("pool1", 1, 1)
          .fully_connected("fc2", 32)
          .softmax()
          .build(),
      begins(516)
          .fully_connected("fc1", 73)
          .fully_connected("fc2", 4)
          .fully_connected("fc3", 31, false)
          .softmax()
          .build(),
      // Each size of a filter and of a window; more tiles than a block has threads; parts of a sum.
      NetworkBuilder("chip", {2, 1, 28, 27})
          .convolution("conv1", 32, 5, {.padding = 2})
          .pooling("pool1", 3, 2, conv::Rounding::ceil)
          .convolution("conv2", 16, 3, {.padding = 1})
          .pooling("pool2", 2, 2, conv::Rounding::floor, average)
          .convolution("conv3", 8, 1)
          .pooling("pool3", 1, 2)
          .fully_connected("fc1", 10, false)
          .softmax()
          .build(),
      // Pooling first, pooling behind pooling, filters without pooling; the softmax behind a map of 1 x 1.
      NetworkBuilder("chip", {2, 12, 13, 11})
          .pooling("pool1", 3, 2, conv::Rounding::ceil, average)
          .pooling("pool2", 2, 1)
          .convolution("conv1", 9, 5, {.padding = 2})
          .convolution("conv2", 6, 3)
          .pooling("pool3", 2, 2)
          .softmax()
          .build(),
  };
  for (const Network& network : networks) {
    const Costs costs = counted(network);
    // Clusters of 1, 2, 4, 8 and 16 blocks, for the whole network.
    REQUIRE(costs.layers[0].several.size() == 5);
    for (const Option& option : costs.layers[0].several) {
      require_several(*backend, network, option);
    }
  }
  if (!backend->observes()) return;
  test::LinesOf lines({"stages/13_network/4_", "stages/13_network/on_chip"});
  lines.add(backend->take_coverage());
  test::require_all_lines(lines);
}

TEST_CASE("LeNet in one kernel: each layer right, and the traffic as predicted") {
  const auto backend = test::usable_backend();
  backend->take_coverage();
  const SeveralVariant variant = fused_lenet_variant();
  for (const Network& network : miniature_networks()) {
    CHECK(variant.prepare(network.layers()).refusal == "it is made for LeNet, all of it");
  }
  const Network network = make_network("lenet", 3);
  const Costs costs = counted(network);
  const auto option =
      std::find_if(costs.layers[0].several.begin(), costs.layers[0].several.end(),
                   [](const Option& each) { return each.kernel.name == "fused_lenet"; });
  REQUIRE(option != costs.layers[0].several.end());
  require_several(*backend, network, *option);
  if (!backend->observes()) return;
  test::LinesOf lines({"stages/13_network/5_", "stages/13_network/fused_lenet"});
  lines.add(backend->take_coverage());
  test::require_all_lines(lines);
}

TEST_CASE("layers on chip in one kernel: what it does not take is refused, in one line") {
  test::usable_backend();  // it asks what the GPU holds
  const SeveralVariant variant = on_chip_variants().front();
  const auto refusal = [&](const Network& network) {
    return variant.prepare(network.layers()).refusal;
  };
  const auto begins = [](int C, int size = 1) {
    return NetworkBuilder("chip", {1, C, size, size});
  };
  CHECK(refusal(begins(4).fully_connected("fc1", 1).softmax().build()).empty());
  CHECK(refusal(begins(4).fully_connected("fc1", 33).softmax().build()) == "too many categories");
  CHECK(refusal(begins(4).softmax().build()) == "there are no filters");
  CHECK(refusal(begins(4).pooling("p", 1, 1).softmax().build()) == "there are no filters");
  CHECK(refusal(begins(1, 9)
                    .convolution("c", 4, 9, {.padding = 1})
                    .pooling("p", 3, 1)
                    .softmax()
                    .build()) == "c: it is made for filters of 1 x 1, 3 x 3 and 5 x 5");
  CHECK(refusal(begins(1, 5)
                    .convolution("c", 4, 3, {.stride = 2})
                    .fully_connected("f", 2)
                    .softmax()
                    .build()) == "c: it convolves with stride 1 only");
  CHECK(refusal(begins(2, 4).pooling("p", 4, 4).fully_connected("f", 2).softmax().build()) ==
        "p: it is made for windows of up to 3 x 3");
  CHECK(refusal(begins(2, 4)
                    .pooling("p", 3, 1, conv::Rounding::floor, conv::Pooling::max, 1)
                    .fully_connected("f", 2)
                    .softmax()
                    .build()) == "p: it pools without padding only");
  CHECK(refusal(begins(4000).fully_connected("a", 20).softmax().build()) ==
        "it does not fit into shared memory");
  CHECK(refusal(begins(16, 64).fully_connected("a", 20).softmax().build()) == "too large a map");
  CHECK(
      refusal(begins(2048).fully_connected("a", 2048).fully_connected("b", 2).softmax().build()) ==
      "too many filters");
  NetworkBuilder deep = begins(4);
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) deep.fully_connected(name, 4);
  CHECK(refusal(NetworkBuilder(deep).softmax().build()).empty());
  CHECK(refusal(deep.fully_connected("g", 4).softmax().build()) == "too many layers");
  // It ends with the softmax.
  const std::vector<Layer> layers =
      begins(4).fully_connected("a", 4).fully_connected("b", 4).softmax().build().layers();
  CHECK(variant.prepare({layers[0], layers[1]}).refusal == "it ends with the softmax");
}

// ---- Chains ----

TEST_CASE("miniature networks in random layouts, by random kernels: every layer, and the whole",
          "[all]") {
  const auto backend = test::usable_backend();
  std::uint64_t number = seed();
  for (const Network& network : miniature_networks()) {
    const Costs costs = counted(network);
    const Weights weights = random_weights(network, seed());
    const DeviceWeights on_device(*backend, network, weights);
    const std::vector<float> input = random_input(network, seed());
    const Known known = true_logits(network, weights, input);
    for (int turn = 0; turn < 6; ++turn) {
      const Plan plan = random_plan(costs, ++number);
      for (const Keep keep : {Keep::all, Keep::two}) {
        Chain chain(*backend, network, plan, weights, on_device, keep);
        INFO(network.name() << ", turn " << turn << kernels_of(chain, plan));
        chain.set_input(input);
        std::vector<LayerVerdict> verdicts;
        REQUIRE(chain.check(verdicts, seed(), kAllProducts, true));
        require_good(verdicts);
        require_within(chain.logits(), known);
        if (!backend->observes()) continue;
        for (std::size_t i = 0; i < verdicts.size(); ++i) {
          Cost predicted;
          REQUIRE(chain.predict(i, predicted));
          INFO(chain.describe(i));
          CHECK(backend->by_name(predicted) == backend->by_name(verdicts[i].counted));
        }
      }
    }
  }
}

TEST_CASE("networks are in fp32: no kernel on tensor cores is offered") {
  test::usable_backend();
  int kernels = 0;
  for (const Network& network : miniature_networks()) {
    for (const LayerOptions& layer : counted(network).layers) {
      for (const Option& option : layer.kernels) {
        INFO(option.kernel.name);
        CHECK(option.kernel.name.find("tf32") == std::string::npos);
        CHECK(option.kernel.demand != conv::Demand::tf32);
        CHECK_FALSE(conv::is_split(option.kernel.demand));
        ++kernels;
      }
    }
  }
  CHECK(kernels > 20);
}

TEST_CASE("networks on tensor cores: each such kernel in a chain, right and as predicted") {
  const auto backend = test::usable_backend();
  if (gpus::present_limits().capability < gpus::kWithTf32) {
    test::skip("the GPU multiplies no TF32");
  }
  std::set<std::string> met;
  for (const Network& network : miniature_networks()) {
    Costs costs = counted(network, stage().split);
    const Weights weights = random_weights(network, seed());
    const DeviceWeights on_device(*backend, network, weights);
    // One after the other they cost nothing, so that they are taken.
    for (std::size_t i = 0; i < costs.layers.size(); ++i) {
      for (Option& option : costs.layers[i].kernels) {
        if (!conv::is_split(option.kernel.demand)) continue;
        if (!met.insert(option.kernel.stage + " " + option.kernel.name).second) continue;
        const Price price = option.price;
        option.price = {-1e9, ""};
        const Plan plan = cheapest_plan(costs, any_layout);
        REQUIRE(plan.layers[i].kernel == &option);
        CHECK(plan.on_tensor_cores());
        Chain chain(*backend, network, plan, weights, on_device, Keep::all);
        INFO(network.name() << kernels_of(chain, plan));
        chain.set_input(random_input(network, seed()));
        std::vector<LayerVerdict> verdicts;
        REQUIRE(chain.check(verdicts, seed(), kAllProducts, true));
        require_good(verdicts);
        Cost predicted;
        if (backend->observes() && chain.predict(i, predicted)) {
          CHECK(backend->by_name(predicted) == backend->by_name(verdicts[i].counted));
        }
        option.price = price;
      }
    }
    // Of the others none is taken for one.
    CHECK_FALSE(cheapest_plan(counted(network), any_layout).on_tensor_cores());
  }
  CHECK(met.count("09_cuconv_two_stage split_tf32") == 1);
  CHECK(met.count("08_multi_channel_stride_fixed fourier_split") == 1);
}

TEST_CASE("a chain packs its filters once, when it is made") {
  const auto backend = test::usable_backend();
  const Network network = miniature_networks()[1];
  const Weights weights = random_weights(network, seed());
  const DeviceWeights on_device(*backend, network, weights);
  int packed = 0;
  const auto costs_with = [&](int error) {
    Costs costs = counted(network);
    for (Option& option : costs.layers[0].kernels) {
      Kernel& kernel = option.kernel;
      kernel.packed_floats = kernel.filters_floats;
      // As they are: what matters is who reads them.
      kernel.pack = [&, error, floats = static_cast<std::size_t>(kernel.filters_floats)](
                        const Arrays& arrays, float* to) {
        ++packed;
        std::vector<float> values(floats);
        backend->copy_out(values.data(), arrays.filters, floats * sizeof(float));
        backend->copy_in(to, values.data(), floats * sizeof(float));
        return error;
      };
      kernel.launch = [inner = kernel.launch](const Arrays& arrays) {
        Arrays other = arrays;
        other.filters = arrays.packed;
        return inner(other);
      };
    }
    return costs;
  };
  const Costs costs = costs_with(0);
  const Plan plan = cheapest_plan(costs, only(Layout::nchw));
  Chain chain(*backend, network, plan, weights, on_device, Keep::all);
  CHECK(packed == 1);
  chain.set_input(random_input(network, seed()));
  std::vector<LayerVerdict> verdicts;
  REQUIRE(chain.check(verdicts, seed(), kAllProducts, true));
  require_good(verdicts);
  CHECK(packed == 1);
  CHECK(Chain::bytes(network, plan, Keep::all) ==
        Chain::bytes(network, cheapest_plan(counted(network), only(Layout::nchw)), Keep::all) +
            4 * plan.layers[0].kernel->kernel.filters_floats);
  const Costs failing = costs_with(1);
  CHECK_THROWS_WITH(Chain(*backend, network, cheapest_plan(failing, only(Layout::nchw)), weights,
                          on_device, Keep::all),
                    test::contains("packing its filters: "));
}

TEST_CASE("a chain that computes something else is caught") {
  const auto backend = test::usable_backend();
  const Network network = miniature_networks()[1];
  const Costs costs = counted(network);
  const Weights weights = random_weights(network, seed());
  const DeviceWeights on_device(*backend, network, weights);
  const auto verdicts_of = [&](const std::function<void(Costs&)>& spoil) {
    Costs spoiled = costs;
    spoil(spoiled);
    const Plan plan = cheapest_plan(spoiled, only(Layout::nchw));
    Chain chain(*backend, network, plan, weights, on_device, Keep::all);
    chain.set_input(random_input(network, seed()));
    std::vector<LayerVerdict> verdicts;
    chain.check(verdicts, seed(), kAllProducts, true);
    return verdicts;
  };
  const auto all_good = [](const std::vector<LayerVerdict>& verdicts) {
    return std::all_of(verdicts.begin(), verdicts.end(), [](const LayerVerdict& verdict) {
      return verdict.check.outcome == Outcome::good;
    });
  };
  CHECK(all_good(verdicts_of([](Costs&) {})));
  // No bias: it is launched by nobody.
  CHECK(!all_good(verdicts_of([](Costs& spoiled) {
    for (Option& option : spoiled.layers[0].bias[0]) {
      option.kernel.launch = [](const Arrays&) { return 0; };
    }
  })));
  // A layer that nobody computes leaves what was there: poison.
  CHECK(!all_good(verdicts_of([](Costs& spoiled) {
    for (Option& option : spoiled.layers[1].kernels) {
      option.kernel.launch = [](const Arrays&) { return 0; };
    }
  })));
  // A launch that fails.
  const std::vector<LayerVerdict> failed = verdicts_of([](Costs& spoiled) {
    for (Option& option : spoiled.layers[2].kernels) {
      option.kernel.launch = [](const Arrays&) { return 1; };
    }
  });
  CHECK(failed[2].check.outcome == Outcome::bad);
  CHECK(failed[3].check.outcome == Outcome::not_run);
}

TEST_CASE("a picture of NaN has answers of NaN, and who hides it is caught") {
  const auto backend = test::usable_backend();
  const Network network = miniature_networks()[3];
  const Costs costs = counted(network);
  const Weights weights = random_weights(network, seed());
  const DeviceWeights on_device(*backend, network, weights);
  std::vector<float> input = random_input(network, seed());
  const std::size_t cells = input.size() / static_cast<std::size_t>(network.images());
  std::fill(input.end() - static_cast<std::ptrdiff_t>(cells), input.end(), NAN);
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    Chain chain(*backend, network, cheapest_plan(costs, only(layout)), weights, on_device,
                Keep::all);
    chain.set_input(input);
    std::vector<LayerVerdict> verdicts;
    REQUIRE(chain.check(verdicts, seed(), kAllProducts, true));
    require_good(verdicts);
    const std::vector<float> answers = chain.output();
    const std::size_t categories = answers.size() / static_cast<std::size_t>(network.images());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      CHECK(std::isnan(answers[i]) == (i >= answers.size() - categories));
    }
  }
  Costs spoiled = costs;
  const auto outputs = static_cast<std::size_t>(output_of(network.layers()[0]).size());
  for (Option& option : spoiled.layers[0].bias[0]) {
    option.kernel.launch = [&backend, launch = option.kernel.launch,
                            outputs](const Arrays& arrays) {
      const int error = launch(arrays);
      std::vector<float> cells(outputs);
      backend->copy_out(cells.data(), arrays.output, outputs * sizeof(float));
      std::replace_if(
          cells.begin(), cells.end(), [](float value) { return std::isnan(value); }, 0.0f);
      backend->copy_in(arrays.output, cells.data(), outputs * sizeof(float));
      return error;
    };
  }
  Chain chain(*backend, network, cheapest_plan(spoiled, only(Layout::nchw)), weights, on_device,
              Keep::all);
  chain.set_input(input);
  std::vector<LayerVerdict> verdicts;
  chain.check(verdicts, seed(), kAllProducts, true);
  CHECK(verdicts[0].check.outcome == Outcome::bad);
}

// ---- Digits ----

TEST_CASE("all 360 test digits: PyTorch's answers, and its logits within what rounding allows",
          "[all]") {
  const auto backend = test::usable_backend();
  const TestDigits digits = read_test_digits(stage().digits);
  REQUIRE(digits.count() == 360);
  const Network network = make_network("digits", static_cast<int>(digits.count()));
  const Weights weights = read_weights(network, stage().digits + "/weights");
  const DeviceWeights on_device(*backend, network, weights);
  const Known known = true_logits(network, weights, digits.pictures);
  // PyTorch computed in float, too.
  require_within(digits.logits, known);
  // And no rounding within the bound could change an answer.
  for (std::size_t n = 0; n < digits.count(); ++n) {
    const std::size_t best = n * 10 + digits.predictions[n];
    for (std::size_t i = n * 10; i < n * 10 + 10; ++i) {
      if (i == best) continue;
      INFO("picture " << n << ", category " << i % 10);
      REQUIRE(known.value[best] - known.off[best] > known.value[i] + known.off[i]);
    }
  }
  const Costs costs = counted(network);
  for (const LayoutRule& rule : {LayoutRule(any_layout), only(Layout::nchw), only(Layout::chwn)}) {
    const Plan plan = cheapest_plan(costs, rule);
    Chain chain(*backend, network, plan, weights, on_device, Keep::two);
    chain.set_input(digits.pictures);
    const Observation seen = backend->run([&] { return chain.launch(); });
    REQUIRE(seen.error.empty());
    CHECK(seen.hazards.empty());
    require_within(chain.logits(), known);
    const std::vector<float> probabilities = chain.output();
    int right = 0, right_of_pytorch = 0;
    for (std::size_t n = 0; n < digits.count(); ++n) {
      const int own = answer(&probabilities[n * 10], 10);
      INFO("picture " << n);
      REQUIRE(own == digits.predictions[n]);
      right += own == digits.labels[n];
      right_of_pytorch += digits.predictions[n] == digits.labels[n];
    }
    CHECK(right == right_of_pytorch);
    CHECK(right >= 342);  // 95 %
  }
}

// ---- Files ----

namespace {

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("halo-network-" + std::to_string(seed()) + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

template <class Action>
std::string complaint_of(Action action) {
  try {
    action();
  } catch (const data::DataError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace

TEST_CASE("weights that are missing, cut off, of another shape or not finite: one line each") {
  const Folder folder;
  const Network network = make_network("digits", 1);
  std::filesystem::copy(stage().digits + "/weights", folder.file("w"));
  const std::string weights = folder.file("w");
  const std::string one = weights + "/conv1.filters.npy";
  const auto complaint = [&] {
    const std::string text = complaint_of([&] { read_weights(network, weights); });
    INFO(text);
    CHECK(text.find('\n') == std::string::npos);
    CHECK(text.find("conv1.filters.npy") != std::string::npos);
    return text;
  };
  const data::Array whole = data::read_array(one);
  CHECK(read_weights(network, weights).front().filters == whole.values);

  std::filesystem::remove(one);
  CHECK(complaint().starts_with("cannot read"));
  data::write_array(one, {{16, 1, 9}, whole.values});
  CHECK(complaint().ends_with("its shape is [16][1][9], the layer needs [16][1][3][3]"));
  data::write_array(one, {{144}, whole.values});
  CHECK(complaint().ends_with("its shape is [144], the layer needs [16][1][3][3]"));
  data::Array broken = whole;
  broken.values[7] = NAN;
  data::write_array(one, broken);
  CHECK(complaint().find("value 7 is NaN") != std::string::npos);
  data::write_array(one, whole);
  std::filesystem::resize_file(one, std::filesystem::file_size(one) - 4);
  CHECK(complaint().find("truncated") != std::string::npos);
  std::ofstream(one) << "not an array";
  CHECK(complaint().find("not an NPY file") != std::string::npos);
  // Half floats: a type that is not read.
  std::string bytes;
  {
    std::ifstream good(stage().digits + "/weights/conv1.filters.npy", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(good), {});
  }
  bytes.replace(bytes.find("<f4"), 3, "<f2");
  std::ofstream(one, std::ios::binary) << bytes;
  CHECK(complaint().find("'<f2'") != std::string::npos);
}

TEST_CASE("pictures: of the size, enlarged, and everything else in one line") {
  const Folder folder;
  const Network network = make_network("digits", 1);
  const std::string pictures = stage().digits + "/pictures/";
  if (data::has_png()) {
    // The files are the test pictures: the same input, bit for bit, small and enlarged.
    const std::vector<float> small = read_picture_for(network, pictures + "digit_3.png");
    CHECK(read_picture_for(network, pictures + "digit_3_64.png") == small);
    const TestDigits digits = read_test_digits(stage().digits);
    bool found = false;
    for (std::size_t n = 0; n < digits.count(); ++n) {
      found |= std::equal(small.begin(), small.end(), &digits.pictures[n * 64]);
    }
    CHECK(found);
  }
  const auto picture = [&](int height, int width, std::size_t channels) {
    const std::string path = folder.file(channels == 3 ? "p.ppm" : "p.pgm");
    const auto pixels = static_cast<std::size_t>(height) * width;
    data::write_picture(path,
                        {height, width, std::vector(channels, std::vector<float>(pixels, 51.0f))});
    return path;
  };
  CHECK(read_picture_for(network, picture(8, 8, 1)) == std::vector<float>(64, 0.2f));
  CHECK(read_picture_for(network, picture(24, 24, 1)) == std::vector<float>(64, 0.2f));
  const auto complaint = [&](const std::string& path) {
    const std::string text = complaint_of([&] { read_picture_for(network, path); });
    CHECK(text.find('\n') == std::string::npos);
    return text;
  };
  CHECK(complaint(picture(8, 16, 1)).find("8 x 16 pixels") != std::string::npos);
  CHECK(complaint(picture(7, 7, 1)).find("7 x 7 pixels") != std::string::npos);
  CHECK(complaint(picture(12, 12, 1)).find("12 x 12 pixels") != std::string::npos);
  CHECK(complaint(picture(8, 8, 3)).find("colours") != std::string::npos);
  CHECK(complaint(folder.file("none.png")).starts_with("cannot read"));
  std::ofstream(folder.file("cut.pgm"), std::ios::binary) << "P5\n8 8\n255\n123";
  CHECK(complaint(folder.file("cut.pgm")).starts_with("cannot read"));
  data::write_array(folder.file("loud.npy"), {{8, 8}, std::vector<float>(64, 300.0f)});
  CHECK(complaint(folder.file("loud.npy")).find("outside 0 ... 255") != std::string::npos);
}

// ---- The program ----

namespace {

// The backend of this test, with as much free memory as one likes.
class SmallMemory final : public Backend {
 public:
  SmallMemory(std::unique_ptr<Backend> real, std::int64_t bytes)
      : real_(std::move(real)), bytes_(bytes) {}
  std::string name() const override { return real_->name(); }
  bool observes() const override { return real_->observes(); }
  std::string blind_reason() const override { return real_->blind_reason(); }
  CounterList by_name(const simt::Counters& counters) const override {
    return real_->by_name(counters);
  }
  bool times() const override { return false; }
  std::string no_time_reason() const override { return "a test"; }
  std::int64_t free_memory() override { return bytes_; }
  void* allocate(std::size_t bytes) override { return real_->allocate(bytes); }
  void release(void* memory) noexcept override { real_->release(memory); }
  void copy_in(void* to, const void* from, std::size_t bytes) override {
    real_->copy_in(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) override {
    real_->copy_out(to, from, bytes);
  }
  void poison(float* memory, std::size_t count, float with) override {
    real_->poison(memory, count, with);
  }
  std::size_t guard_cells() const override { return real_->guard_cells(); }
  Observation run(const std::function<int()>& launch) override { return real_->run(launch); }
  std::unique_ptr<Batch> batch(std::function<int(int)> launch, int calls) override {
    return real_->batch(launch, calls);
  }

 private:
  std::unique_ptr<Backend> real_;
  std::int64_t bytes_;
};

int status_of(std::vector<const char*> arguments, std::unique_ptr<Backend> backend) {
  arguments.insert(arguments.begin(), "13_network");
  return run_network(static_cast<int>(arguments.size()), arguments.data(), stage(), {},
                     std::move(backend));
}

}  // namespace

TEST_CASE("wrong commands end with 2, before anything runs") {
  const std::string picture = stage().digits + "/pictures/digit_3.png";
  const std::vector<std::vector<const char*>> wrong = {
      {"--network", "resnet"},
      {"--network", "lenet,lenet"},
      {"--network", "lenet", "--batch", "0"},
      {"--network", "lenet", "--batch", "2,2"},
      {"--network", "lenet", "--batch", "many"},
      {"--network", "vgg", "--batch", "1000000"},  // more cells than an array may have
      {"--network", "lenet", "--input", picture.c_str()},
      {"--input", picture.c_str(), "--batch", "2"},
      {"--input", picture.c_str(), "--plan"},
      {"--input", "/nowhere/digit.png"},
      {"--weights", "/nowhere"},
      {"--network", "lenet,digits", "--weights", "/nowhere"},
      {"--variant", "fast"},
      {"--plan", "--bench"},
      {"--layers"},
  };
  for (const std::vector<const char*>& arguments : wrong) {
    INFO(arguments.front() << " " << (arguments.size() > 1 ? arguments[1] : ""));
    CHECK(status_of(arguments, make_backend()) == 2);
  }
}

TEST_CASE("a network that does not fit in memory is not run, and nothing fails") {
  std::ignore = test::usable_backend();
  const Folder folder;
  const std::string json = folder.file("rows.json");
  const auto require_rows = [&](std::vector<const char*> words, int status, std::size_t rows) {
    words.insert(words.end(), {"--network", "digits", "--batch", "500", "--json", json.c_str()});
    CHECK(status_of(words, std::make_unique<SmallMemory>(make_backend(), 1 << 20)) == status);
    const Results results = read_json(json);
    REQUIRE(results.rows.size() == rows);
    for (const Row& row : results.rows) {
      CHECK(row.traffic.reason.starts_with(
          "too large for this GPU: network digits on 500 images needs "));
      CHECK(row.traffic.reason.find('\n') == std::string::npos);
    }
  };
  // The network in three ways, and no layer of it.
  require_rows({"--no-trials"}, 77, 3);
  // The miniatures run, which need next to nothing: those of one way.
  require_rows({"--variant", "nchw"}, 0, 1);
}

TEST_CASE("a picture's digit, by the program") {
  if (!data::has_png()) test::skip("this build reads no PNG");
  const std::string picture = stage().digits + "/pictures/digit_7.png";
  const Folder folder;
  const std::string json = folder.file("rows.json");
  std::ignore = test::usable_backend();
  CHECK(status_of({"--input", picture.c_str(), "--json", json.c_str(), "--no-times"},
                  make_backend()) == 0);
  const Results results = read_json(json);
  CHECK(!results.rows.empty());
  for (const Row& row : results.rows) {
    // On a GPU the network is one launch of on_chip, which has nothing to overlap with, nor products for tensor cores.
    INFO(row.variant << ": " << row.check.reason);
    const bool may_lack = row.variant.ends_with("_overlapped") ||
                          (row.variant == "planned_split" && row.backend == "gpu");
    if (may_lack && row.check.outcome == Outcome::not_run) continue;
    CHECK(row.check.outcome == Outcome::good);
  }
}

}  // namespace halo::network
