// The rule that chooses a kernel for a layer, and its fit, with contenders and times made up.
#include "common/convolve/rule.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo;
using namespace halo::convolve;
using conv::ConvLayer;

namespace {

const ChoiceOn kOn{"a GPU", {.sms = 100, .shared_per_sm = 100'000, .shared_per_block = 100'000}};

// A block for each so many filters and places; a step for each channel and tap.
Contender tiles(const std::string& name, int filters, int places) {
  return {name, [](const ConvLayer&, const gpus::GpuLimits&) { return std::string(); },
          [=](const ConvLayer& l, const gpus::GpuLimits&) {
            LaunchWork work;
            work.blocks =
                std::ceil(1.0 * l.K() / filters) * std::ceil(1.0 * l.N() * l.P() * l.Q() / places);
            work.steps = static_cast<double>(l.products_per_output());
            work.megabytes = static_cast<double>(l.output_size()) * 4e-6;
            return work;
          }};
}

// Takes many filters only.
Contender picky() {
  Contender contender = tiles("picky", 128, 128);
  contender.refuses = [](const ConvLayer& l, const gpus::GpuLimits&) {
    return l.K() < 100 ? std::string("it is made for 100 filters") : "";
  };
  return contender;
}

std::vector<Contender> made_up() {
  return {tiles("small", 16, 32), tiles("large", 64, 64), picky()};
}

// What they take in truth: a launch, and each wave of a block's steps.
double true_us(const Contender& contender, const ConvLayer& layer) {
  const LaunchWork work = contender.work(layer, kOn.limits);
  const double waves = std::ceil(work.blocks / 100);
  const double step = contender.variant == "small"   ? 0.002
                      : contender.variant == "large" ? 0.006
                                                     : 0.015;
  return 2 + waves * (0.5 + step * work.steps);
}

std::vector<MeasuredTime> times_of(const std::vector<Contender>& contenders) {
  std::vector<MeasuredTime> times;
  for (const data::NamedLayer& named : data::paper_layer_table("cuconv")) {
    for (const int images : {1, 8}) {
      const ConvLayer layer = named.layer.with_batch(images);
      for (const Contender& one : contenders) {
        if (one.refuses(layer, kOn.limits).empty()) {
          times.push_back({layer, one.variant, true_us(one, layer)});
        }
      }
    }
  }
  return times;
}

std::string complaint(const std::string& text) {
  try {
    parse_rule(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the terms of the cost model count waves, the fullest SM and all SMs") {
  const LaunchWork work{.launches = 2, .blocks = 250, .resident = 2, .steps = 10, .megabytes = 7};
  CHECK(cost_terms(work, 100) == CostTerms{2, 2, 20, 30, 25, 0, 7});
  LaunchWork cluster = work;
  cluster.cluster = 4;
  CHECK(cost_terms(cluster, 100) == CostTerms{2, 2, 20, 30, 25, 2, 7});
}

TEST_CASE("a fit finds what times follow from, and chooses by it on layers it has not seen") {
  const std::vector<Contender> contenders = made_up();
  ConvolutionRule rule = fit(times_of(contenders), contenders, kOn);
  REQUIRE(rule.models.size() == 3);
  for (const CostModel& model : rule.models) {
    INFO(model.variant);
    CHECK(model.layers > 50);
    CHECK(model.error < 0.01);
    CHECK(std::all_of(model.coefficients.begin(), model.coefficients.end(),
                      [](double one) { return one >= 0; }));
  }
  CHECK(rule.layers.size() == 172);
  CHECK(rule.left_out.layers == 172);
  CHECK(rule.left_out.mean < 0.005);
  CHECK(rule.left_out.worst < 0.2);
  CHECK(rule.left_out.mean <= rule.left_out.worst);
  for (const char* label : {"28-4-3-96-100", "9-1-1-1000-64", "112-1-7-64-3-s2", "33-16-5-40-17"}) {
    INFO(label);
    const ConvLayer layer = conv::parse_label(label);
    const Contender* const chosen = choose(rule, contenders, layer, kOn);
    REQUIRE(chosen != nullptr);
    double best = HUGE_VAL;
    for (const Contender& one : contenders) {
      if (one.refuses(layer, kOn.limits).empty()) best = std::min(best, true_us(one, layer));
    }
    CHECK(true_us(*chosen, layer) <= 1.02 * best);
  }
}

TEST_CASE("what leaving layers out costs shows where no model can follow the times") {
  const std::vector<Contender> contenders = made_up();
  std::vector<MeasuredTime> times = times_of(contenders);
  // By turns, which no term counts.
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i % 7 == 0) times[i].us *= 3;
  }
  const ConvolutionRule rule = fit(times, contenders, kOn);
  CHECK(rule.left_out.mean > 0.05);
  CHECK(rule.left_out.worst > 0.3);
  CHECK(!rule.left_out.worst_layer.empty());
  // On the measured layers themselves nothing is lost.
  for (const MeasuredTime& time : times) {
    const Contender* const chosen = choose(rule, contenders, time.layer, kOn);
    REQUIRE(chosen != nullptr);
    const auto best =
        std::min_element(times.begin(), times.end(), [&](const auto& a, const auto& b) {
          return std::pair(!(a.layer == time.layer), a.us) <
                 std::pair(!(b.layer == time.layer), b.us);
        });
    CHECK(chosen->variant == best->variant);
  }
}

TEST_CASE("a measured layer gets its fastest on that GPU, and models decide on another") {
  const std::vector<Contender> contenders = made_up();
  const ConvLayer layer = conv::parse_label("56-1-3-64-64");
  ConvolutionRule rule = fit(times_of(contenders), contenders, kOn);
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
  // Nor if it refuses the layer, or is no contender any more.
  rule.layers.back().variant = "picky";
  CHECK(choose(rule, contenders, layer, kOn)->variant == by_model);
  rule.layers.back().variant = "gone";
  CHECK(choose(rule, contenders, layer, kOn)->variant == by_model);
}

TEST_CASE("contenders that the rule does not know come last, and none is chosen where all refuse") {
  std::vector<Contender> contenders = made_up();
  const ConvolutionRule rule = fit(times_of(contenders), contenders, kOn);
  contenders.insert(contenders.begin(), tiles("new", 1, 1));
  const ConvLayer layer = conv::parse_label("14-2-3-64-64");
  const std::vector<Candidate> all = candidates(rule, contenders, layer, kOn);
  REQUIRE(all.size() == 4);
  CHECK(all[0].measured == false);
  CHECK(all[0].us <= all[1].us);
  CHECK(all[2].contender->variant == "new");
  CHECK(all[2].us < 0);
  CHECK(all[3].refusal == "it is made for 100 filters");
  const std::vector<Contender> only_picky = {picky()};
  CHECK(choose(rule, only_picky, layer, kOn) == nullptr);
  CHECK(choose(rule, std::vector<Contender>(), layer, kOn) == nullptr);
  // Without any model the first that takes it.
  CHECK(choose({}, contenders, layer, kOn)->variant == "new");
}

TEST_CASE("why a kernel was chosen is told candidate by candidate") {
  const std::vector<Contender> contenders = made_up();
  ConvolutionRule rule = fit(times_of(contenders), contenders, kOn);
  rule.date = "2026-01-02T03:04:05Z";
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

TEST_CASE("contenders on tensor cores are remembered beside the others, for who allows them") {
  std::vector<Contender> contenders = made_up();
  contenders.push_back(tiles("tensor", 64, 128));
  contenders.back().tensor_cores = true;
  const ConvLayer fast = conv::parse_label("14-2-3-64-64"), slow = conv::parse_label("7-1-1-64-32");
  std::vector<MeasuredTime> times = {{fast, "small", 3}, {fast, "large", 4}, {fast, "tensor", 1},
                                     {slow, "small", 3}, {slow, "large", 4}, {slow, "tensor", 5}};
  const ConvolutionRule rule = fit(times, contenders, kOn);
  REQUIRE(rule.layers.size() == 3);
  CHECK(rule.layers[0].variant == "small");
  CHECK(rule.layers[1].layer == rule.layers[0].layer);
  CHECK(rule.layers[1].variant == "tensor");
  CHECK(rule.layers[2].variant == "small");
  const std::span<const Contender> without(contenders.data(), 3);
  CHECK(choose(rule, without, fast, kOn)->variant == "small");
  CHECK(choose(rule, contenders, fast, kOn)->variant == "tensor");
  CHECK(choose(rule, contenders, slow, kOn)->variant == "small");
  // What leaving out costs is of the others.
  CHECK(rule.left_out.worst < 0.5);
}

TEST_CASE(
    "a contender that comes later is added: its model, and the layers on which it is faster") {
  std::vector<Contender> contenders = made_up();
  const ConvLayer won = conv::parse_label("14-2-3-64-64"), lost = conv::parse_label("7-1-1-64-32");
  const std::vector<MeasuredTime> times = {
      {won, "small", 3}, {won, "large", 4}, {lost, "small", 3}, {lost, "large", 4}};
  const ConvolutionRule before = fit(times, contenders, kOn);
  contenders.push_back(tiles("later", 64, 128));
  const std::vector<MeasuredTime> more = {{won, "later", 2}, {lost, "later", 5}};
  const ConvolutionRule rule = add(before, more, contenders, kOn);
  CHECK(rule.models.size() == before.models.size() + 1);
  CHECK(rule.added == std::vector<std::string>{"later"});
  CHECK(choose(rule, contenders, won, kOn)->variant == "later");
  CHECK(choose(rule, contenders, lost, kOn)->variant == "small");
  CHECK_THAT(explain(rule, contenders, won, kOn), test::contains("without later"));
  CHECK(to_text(parse_rule(to_text(rule))) == to_text(rule));
  CHECK_THROWS_AS(add(before, times, contenders, kOn), std::invalid_argument);  // of two

  // Measured again: faster on both.
  const std::vector<MeasuredTime> faster = {{won, "later", 1}, {lost, "later", 2.5}};
  const ConvolutionRule again = add(rule, faster, contenders, kOn);
  CHECK(again.models.size() == rule.models.size());
  CHECK(again.added == std::vector<std::string>{"later"});
  CHECK(again.layers.size() == 2);
  CHECK(choose(again, contenders, lost, kOn)->variant == "later");
  CHECK(candidates(again, contenders, won, kOn).front().us == 1);
  // Slower where it was the fastest: nobody knows who is now. By 1 % is by chance.
  const std::vector<MeasuredTime> slower = {{won, "later", 2.1}, {lost, "later", 5}};
  const ConvolutionRule forgotten = add(rule, slower, contenders, kOn);
  REQUIRE(forgotten.layers.size() == 1);
  CHECK(forgotten.layers[0].layer == conv::label(lost));
  const std::vector<MeasuredTime> by_chance = {{won, "later", 2.02}, {lost, "later", 5}};
  CHECK(add(rule, by_chance, contenders, kOn).layers.size() == 2);

  // On tensor cores it stands beside the fastest of the others, where it is faster.
  contenders.back().tensor_cores = true;
  const ConvolutionRule beside = add(before, more, contenders, kOn);
  CHECK(beside.layers.size() == before.layers.size() + 1);
  CHECK(choose(beside, contenders, won, kOn)->variant == "later");
  const std::span<const Contender> without(contenders.data(), contenders.size() - 1);
  CHECK(choose(beside, without, won, kOn)->variant == "small");
}

TEST_CASE("layers that only models were asked for are refined: the fastest of several") {
  std::vector<Contender> contenders = made_up();
  const ConvLayer known = conv::parse_label("14-2-3-64-64"),
                  other = conv::parse_label("7-1-1-64-32");
  const std::vector<MeasuredTime> times = {{known, "small", 3}, {known, "large", 4}};
  const ConvolutionRule before = fit(times, contenders, kOn);
  REQUIRE(before.layers.size() == 1);
  const std::vector<MeasuredTime> more = {{other, "small", 5}, {other, "large", 4}};
  const ConvolutionRule rule = refine(before, more, contenders, kOn);
  CHECK(rule.layers.size() == 2);
  CHECK(rule.models.size() == before.models.size());
  CHECK(choose(rule, contenders, other, kOn)->variant == "large");
  CHECK(choose(rule, contenders, known, kOn)->variant == "small");
  // What was known of a layer gives way, also where it was faster then.
  const std::vector<MeasuredTime> anew = {{known, "small", 7}, {known, "large", 6}};
  CHECK(choose(refine(rule, anew, contenders, kOn), contenders, known, kOn)->variant == "large");
  const std::vector<MeasuredTime> alone = {{other, "small", 5}};
  CHECK_THROWS_AS(refine(before, alone, contenders, kOn), std::invalid_argument);
}

TEST_CASE("a rule comes back as it was written, and what is none is refused") {
  const std::vector<Contender> contenders = made_up();
  ConvolutionRule rule = fit(times_of(contenders), contenders, kOn);
  rule.date = "2026-01-02T03:04:05Z";
  rule.command = "a \"command\"";
  rule.also_for = {"a like GPU"};
  const std::string text = to_text(rule);
  const ConvolutionRule back = parse_rule(text);
  CHECK(to_text(back) == text);
  CHECK(back.gpu == "a GPU");
  CHECK(back.also_for == rule.also_for);
  CHECK(back.sms == 100);
  CHECK(back.command == rule.command);
  CHECK(back.models.size() == 3);
  CHECK(back.layers.size() == 172);
  CHECK(back.left_out.layers == 172);
  CHECK_THAT(complaint("{"), test::contains("no rule of convolutions: "));
  CHECK_THAT(complaint("{}"), test::contains("gpu"));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    return complaint(other);
  };
  CHECK_THAT(changed("\"wave_step\":", "\"fast\":"), test::contains("there is no term fast"));
  CHECK_THAT(changed("\"wave_step\":", "\"wave_step\":-"), test::contains("is negative"));
  CHECK_THAT(changed("\"multiprocessors\": 100", "\"multiprocessors\": 0"),
             test::contains("no multiprocessors"));
}

TEST_CASE("times that say nothing of contenders make no rule") {
  const std::vector<Contender> contenders = made_up();
  const ConvLayer layer = conv::parse_label("14-2-3-64-64");
  const auto fitted = [&](std::vector<MeasuredTime> times) { return fit(times, contenders, kOn); };
  CHECK_THROWS_AS(fitted({}), std::invalid_argument);
  CHECK_THROWS_AS(fitted({{layer, "unknown", 3}}), std::invalid_argument);
  CHECK_THROWS_AS(fitted({{layer, "picky", 3}}), std::invalid_argument);  // it refuses
  CHECK_THROWS_AS(fitted({{layer, "small", 0}}), std::invalid_argument);
  // Of one contender alone nobody knows whether it is the fastest.
  CHECK(fitted({{layer, "small", 3}}).layers.empty());
  const ConvolutionRule rule =
      fitted({{layer, "small", 3}, {layer, "large", 4}, {layer, "large", 2}});
  REQUIRE(rule.layers.size() == 1);
  CHECK(rule.layers[0].variant == "large");
  CHECK(rule.layers[0].us == 2);
}

TEST_CASE("the rules that are built in can be read, and are of different GPUs") {
  REQUIRE(!known_rules().empty());
  CHECK(known_rules().front().gpu == "NVIDIA H200");
  for (const ConvolutionRule& rule : known_rules()) {
    INFO(rule.gpu);
    CHECK(&rule_for(rule.gpu) == &rule);
    CHECK(!rule.date.empty());
    CHECK(!rule.command.empty());
    CHECK(!rule.models.empty());
    CHECK(!rule.layers.empty());
    for (const BestOfLayer& one : rule.layers) {
      CHECK_NOTHROW(conv::parse_label(one.layer));
      CHECK(one.us > 0);
    }
  }
  CHECK(&rule_for("NVIDIA H100 80GB HBM3") == &rule_for("NVIDIA H200"));
  CHECK(&rule_for("no such GPU") == &known_rules().front());
}

TEST_CASE("the rules that are compiled in are those of the files") {
  REQUIRE(known_rules().size() == 1);
  const std::string text = data::read_file(HALO_SOURCE_ROOT "/common/data/rules/h200.json");
  CHECK(to_text(known_rules().front()) == to_text(parse_rule(text)));
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
