// The rule that chooses a kernel for a layer, with contenders and models made up.
#include "common/convolve/rule.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

namespace {

const ChoiceOn kOn{"a GPU", {.sms = 100, .shared_per_sm = 100'000, .shared_per_block = 100'000}};

// A block for each so many filters and places; a step for each channel and tap.
Contender tiles(const std::string& name, int filters, int places) {
  return {name, [=](const ConvLayer& l, const gpus::GpuLimits&) {
            LaunchWork work;
            work.blocks =
                std::ceil(1.0 * l.K() / filters) * std::ceil(1.0 * l.N() * l.P() * l.Q() / places);
            work.steps = static_cast<double>(l.products_per_output());
            work.megabytes = static_cast<double>(l.output_size()) * 4e-6;
            return Offer{"", work};
          }};
}

// Takes many filters only.
Contender picky() {
  Contender contender = tiles("picky", 128, 128);
  contender.offer = [offer = contender.offer](const ConvLayer& l, const gpus::GpuLimits& gpu) {
    return l.K() < 100 ? Offer{"it is made for 100 filters", {}} : offer(l, gpu);
  };
  return contender;
}

std::vector<Contender> made_up() {
  return {tiles("small", 16, 32), tiles("large", 64, 64), picky()};
}

// The model of each, and the fastest by it on cuConv's layers.
ConvolutionRule rule_of(const std::vector<Contender>& contenders) {
  ConvolutionRule rule;
  rule.gpu = kOn.gpu;
  rule.sms = kOn.limits.sms;
  rule.date = "2026-01-02T03:04:05Z";
  for (const Contender& one : contenders) {
    const double step = one.variant == "small" ? 0.002 : one.variant == "large" ? 0.006 : 0.015;
    rule.models.push_back({one.variant, {2, 0.5, step, 0, 0, 0, 0}, 100, 0});
  }
  ConvolutionRule models = rule;
  for (const data::NamedLayer& named : data::paper_layer_table("cuconv")) {
    const Candidate best = candidates(models, contenders, named.layer, kOn).front();
    rule.layers.push_back({conv::label(named.layer), best.contender->variant, best.us});
  }
  return rule;
}

}  // namespace

TEST_CASE("the terms of the cost model count waves, the fullest SM and all SMs") {
  const LaunchWork work{.launches = 2, .blocks = 250, .resident = 2, .steps = 10, .megabytes = 7};
  CHECK(cost_terms(work, 100) == CostTerms{2, 2, 20, 30, 25, 0, 7});
  LaunchWork cluster = work;
  cluster.cluster = 4;
  CHECK(cost_terms(cluster, 100) == CostTerms{2, 2, 20, 30, 25, 2, 7});
}

TEST_CASE("a measured layer gets its fastest on that GPU, and models decide on another") {
  const std::vector<Contender> contenders = made_up();
  const ConvLayer layer = conv::parse_label("56-1-3-64-64");
  ConvolutionRule rule = rule_of(contenders);
  const std::string by_model = [&] {
    ConvolutionRule models = rule;
    models.layers.clear();
    return choose(models, contenders, layer, kOn)->variant;
  }();
  const std::string other = by_model == "small" ? "large" : "small";
  std::erase_if(rule.layers, [](const BestOfLayer& one) { return one.layer == "56-1-3-64-64"; });
  rule.layers.push_back({"56-1-3-64-64", other, 1.5});
  CHECK(choose(rule, contenders, layer, kOn)->variant == other);
  CHECK(choose(rule, contenders, layer, {"another GPU", kOn.limits})->variant == by_model);
  rule.also_for = {"a like GPU"};
  CHECK(choose(rule, contenders, layer, {"a like GPU", kOn.limits})->variant == other);
  CHECK(choose(rule, contenders, layer, {"another GPU", kOn.limits})->variant == by_model);
  CHECK_THAT(explain(rule, contenders, layer, {"a like GPU", kOn.limits}),
             test::contains("which counts here too"));
  // Nor if it refuses the layer, or is not a contender any more.
  rule.layers.back().variant = "picky";
  CHECK(choose(rule, contenders, layer, kOn)->variant == by_model);
  rule.layers.back().variant = "gone";
  CHECK(choose(rule, contenders, layer, kOn)->variant == by_model);
}

TEST_CASE(
    "where calls pack, or overlap, another contender may be the fastest of a measured layer") {
  const std::vector<Contender> contenders = made_up();
  const ConvLayer layer = conv::parse_label("56-1-3-64-64"),
                  other = conv::parse_label("28-1-3-64-64");
  ConvolutionRule rule = rule_of(contenders);
  const auto first = [&](const ConvLayer& of, const std::string& gpu, Calls calls) {
    return candidates(rule, contenders, of, {gpu, kOn.limits}, calls).front();
  };
  const std::string once = first(layer, kOn.gpu, Calls::packed).contender->variant;
  const std::string another = once == "small" ? "large" : "small";
  for (const auto& [calls, noted] : {std::pair(Calls::packing, &rule.packing),
                                     std::pair(Calls::overlapping, &rule.overlapping)}) {
    INFO(word_for(calls));
    CHECK(first(layer, kOn.gpu, calls).contender->variant == once);
    *noted = {{"56-1-3-64-64", another, 900}};
    const Candidate now = first(layer, kOn.gpu, calls);
    CHECK(now.contender->variant == another);
    CHECK(now.measured);
    CHECK(now.us == 900);
    CHECK(first(other, kOn.gpu, calls).contender == first(other, kOn.gpu, Calls::packed).contender);
    CHECK(!first(layer, "another GPU", calls).measured);
    CHECK(first(layer, kOn.gpu, Calls::packed).contender->variant == once);
    noted->clear();
  }
}

TEST_CASE("contenders that the rule does not know come last, and none is chosen where all refuse") {
  std::vector<Contender> contenders = made_up();
  const ConvolutionRule rule = rule_of(contenders);
  contenders.insert(contenders.begin(), tiles("new", 1, 1));
  const ConvLayer layer = conv::parse_label("14-2-3-64-64");
  const std::vector<Candidate> all = candidates(rule, contenders, layer, kOn);
  REQUIRE(all.size() == 4);
  CHECK(all[0].measured == false);
  CHECK(all[0].us <= all[1].us);
  CHECK(all[2].contender->variant == "new");
  CHECK(all[2].us < 0);
  CHECK(all[3].offer.refusal == "it is made for 100 filters");
  const std::vector<Contender> only_picky = {picky()};
  CHECK(choose(rule, only_picky, layer, kOn) == nullptr);
  CHECK(choose(rule, std::vector<Contender>(), layer, kOn) == nullptr);
  // Without any model the first that takes it.
  CHECK(choose({}, contenders, layer, kOn)->variant == "new");
}

TEST_CASE("why a kernel was chosen is told candidate by candidate") {
  const std::vector<Contender> contenders = made_up();
  ConvolutionRule rule = rule_of(contenders);
  const std::string measured = explain(rule, contenders, conv::parse_label("56-1-3-64-64"), kOn);
  CHECK_THAT(measured, test::contains("layer 56-1-3-64-64 on a GPU, 100 SMs"));
  CHECK_THAT(measured, test::contains("by the rule of a GPU, 2026-01-02"));
  CHECK_THAT(measured, test::contains("measured: the fastest on this layer"));
  CHECK_THAT(measured, test::contains("refuses: it is made for 100 filters"));
  const std::string other =
      explain(rule, contenders, conv::parse_label("14-2-3-640-64"), {"another", {.sms = 50}});
  CHECK_THAT(other, test::contains("another GPU, so its models decide"));
  CHECK_THAT(other, test::contains(" predicted: ") && test::contains(" blocks, "));
  CHECK(std::count(other.begin(), other.end(), '*') == 1);
}

TEST_CASE("of a measured layer the fastest of those that may be chosen is chosen") {
  std::vector<Contender> contenders = made_up();
  contenders.push_back(tiles("tensor", 64, 128));
  contenders.back().tensor_cores = true;
  const ConvLayer fast = conv::parse_label("14-2-3-64-64"), slow = conv::parse_label("7-1-1-64-32");
  ConvolutionRule rule;
  rule.gpu = kOn.gpu;
  rule.layers = {{conv::label(fast), "small", 3},
                 {conv::label(fast), "tensor", 1},
                 {conv::label(slow), "small", 3}};
  const std::span<const Contender> without(contenders.data(), 3);
  CHECK(choose(rule, without, fast, kOn)->variant == "small");
  CHECK(choose(rule, contenders, fast, kOn)->variant == "tensor");
  CHECK(choose(rule, contenders, slow, kOn)->variant == "small");
  rule.added = {"later"};
  rule.left_out.layers = 2;
  CHECK_THAT(explain(rule, contenders, fast, kOn), test::contains("without later"));
}

TEST_CASE("the rules that are built in can be read, and are of different GPUs") {
  REQUIRE(!known_rules().empty());
  CHECK(known_rules().front().gpu == "NVIDIA H200");
  for (const ConvolutionRule& rule : known_rules()) {
    INFO(rule.gpu);
    CHECK(&rule_for(rule.gpu) == &rule);
    CHECK(!rule.date.empty());
    CHECK(!rule.command.empty());
    CHECK(rule.sms > 0);
    CHECK(!rule.models.empty());
    for (const CostModel& model : rule.models) {
      INFO(model.variant);
      CHECK(std::all_of(model.coefficients.begin(), model.coefficients.end(),
                        [](double us) { return us >= 0; }));
      CHECK(model.coefficients != CostTerms{});
    }
    CHECK(!rule.layers.empty());
    for (const BestOfLayer& one : rule.layers) {
      CHECK_NOTHROW(conv::parse_label(one.layer));
      CHECK(one.us > 0);
    }
  }
  CHECK(&rule_for("NVIDIA H100 80GB HBM3") == &rule_for("NVIDIA H200"));
  CHECK(&rule_for("no such GPU") == &known_rules().front());
}

TEST_CASE("no rule was fitted to a layer of the table of unseen ones") {
  const std::vector<data::NamedLayer> unseen = data::paper_layer_table("unseen");
  REQUIRE(!unseen.empty());
  for (const data::NamedLayer& named : unseen) {
    INFO(named.name);
    for (const ConvolutionRule& rule : known_rules()) {
      CHECK(std::none_of(rule.layers.begin(), rule.layers.end(), [&](const BestOfLayer& one) {
        return conv::parse_label(one.layer).with_batch(1) == named.layer;
      }));
    }
  }
}
