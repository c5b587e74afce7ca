#include "common/convolve/rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/data/convolution_rules.hpp"
#include "common/json/json.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;
using Json = json::Value;

constexpr int kFolds = 8;

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}
double six_digits(double value) { return std::stod(rounded(value, 6)); }

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, us < 100 ? "%.2f us" : us < 1000 ? "%.1f us" : "%.0f us", us);
  return text;
}

double predicted(const CostTerms& coefficients, const CostTerms& terms) {
  double us = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) us += coefficients[i] * terms[i];
  return us;
}

// What is measured of one contender on one layer.
struct Sample {
  std::size_t layer;  // its number
  CostTerms terms;
  double us;
  double weight;
};

// The coefficients, none negative, whose predictions are off by least, as shares of the times: the sum of
// (weight * (predicted / us - 1))^2. By one coefficient after the other, each the best with the others as
// they are; the sum is convex, so that ends at its least.
CostTerms fit_coefficients(const std::vector<Sample>& samples) {
  constexpr std::size_t n = kCostTerms.size();
  std::array<std::array<double, n>, n> products{};
  CostTerms wanted{};
  for (const Sample& sample : samples) {
    const double scale = sample.weight / sample.us;
    for (std::size_t i = 0; i < n; ++i) {
      wanted[i] += scale * sample.terms[i] * sample.weight;
      for (std::size_t j = 0; j < n; ++j) {
        products[i][j] += scale * sample.terms[i] * scale * sample.terms[j];
      }
    }
  }
  constexpr int kMostTurns = 20'000;
  constexpr double kSettled = 1e-7;
  CostTerms found{};
  for (int turn = 0; turn < kMostTurns; ++turn) {
    double moved = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (products[i][i] <= 0) continue;
      double rest = wanted[i];
      for (std::size_t j = 0; j < n; ++j) {
        if (j != i) rest -= products[i][j] * found[j];
      }
      const double next = std::max(0.0, rest / products[i][i]);
      // In shares of a time, so that the terms' units do not matter.
      moved = std::max(moved, std::fabs(next - found[i]) * std::sqrt(products[i][i]));
      found[i] = next;
    }
    if (moved < kSettled) break;
  }
  return found;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// All that is measured, layer by layer and contender by contender.
struct Measurements {
  std::vector<ConvLayer> layers;
  std::vector<double> best_us;               // of each, without tensor cores
  std::vector<int> measured;                 // contenders of each, without those
  std::vector<std::vector<Sample>> samples;  // of each contender
};

Measurements gather(std::span<const MeasuredTime> times, std::span<const Contender> contenders,
                    const ChoiceOn& on) {
  std::map<std::string, std::size_t> numbers;  // of the contenders
  for (const Contender& contender : contenders) numbers.emplace(contender.variant, numbers.size());
  Measurements all;
  all.samples.resize(contenders.size());
  std::map<std::string, std::size_t> known;  // layers by label
  std::map<std::pair<std::size_t, std::size_t>, double> least;
  for (const MeasuredTime& time : times) {
    const auto number = numbers.find(time.variant);
    if (number == numbers.end() || !(time.us > 0)) continue;
    if (!refusal(contenders[number->second], time.layer, on.limits).empty()) continue;
    const auto [at, is_new] = known.emplace(conv::label(time.layer), known.size());
    if (is_new) all.layers.push_back(time.layer);
    const auto [one, first] = least.emplace(std::pair(number->second, at->second), time.us);
    if (!first) one->second = std::min(one->second, time.us);
  }
  if (least.empty()) throw std::invalid_argument("no times of our contenders to fit a rule to");
  all.best_us.assign(all.layers.size(), HUGE_VAL);
  all.measured.assign(all.layers.size(), 0);
  for (const auto& [of, us] : least) {
    if (contenders[of.first].tensor_cores) continue;
    ++all.measured[of.second];
    all.best_us[of.second] = std::min(all.best_us[of.second], us);
  }
  for (const auto& [of, us] : least) {
    const auto& [contender, layer] = of;
    const LaunchWork work = contenders[contender].work(all.layers[layer], on.limits);
    // Where it is far from the best nobody asks how far.
    const double share = std::min(1.0, all.best_us[layer] / us);
    all.samples[contender].push_back({layer, cost_terms(work, on.limits.sms), us, share * share});
  }
  return all;
}

std::vector<CostTerms> fit_all(const Measurements& all, const std::vector<bool>& left_out) {
  std::vector<CostTerms> coefficients;
  for (const std::vector<Sample>& samples : all.samples) {
    std::vector<Sample> used;
    for (const Sample& sample : samples) {
      if (!left_out[sample.layer]) used.push_back(sample);
    }
    coefficients.push_back(fit_coefficients(used));
  }
  return coefficients;
}

bool is_zero(const CostTerms& coefficients) {
  return std::all_of(coefficients.begin(), coefficients.end(), [](double one) { return one == 0; });
}

LeftOut judge_left_out(const Measurements& all, std::span<const Contender> contenders) {
  std::map<std::string, int> folds;  // of a layer with one image
  for (const ConvLayer& layer : all.layers) folds.emplace(conv::label(layer.with_batch(1)), 0);
  int number = 0;
  for (auto& [label, fold] : folds) fold = number++ % kFolds;
  LeftOut judged;
  if (number < 2) return judged;
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<bool> left_out(all.layers.size());
    for (std::size_t i = 0; i < all.layers.size(); ++i) {
      left_out[i] = folds.at(conv::label(all.layers[i].with_batch(1))) == fold;
    }
    const std::vector<CostTerms> coefficients = fit_all(all, left_out);
    std::map<std::size_t, std::pair<double, double>> chosen;  // predicted and true, by layer
    for (std::size_t contender = 0; contender < coefficients.size(); ++contender) {
      if (contenders[contender].tensor_cores || is_zero(coefficients[contender])) continue;
      for (const Sample& sample : all.samples[contender]) {
        if (!left_out[sample.layer]) continue;
        const std::pair one(predicted(coefficients[contender], sample.terms), sample.us);
        const auto [at, is_new] = chosen.emplace(sample.layer, one);
        if (!is_new) at->second = std::min(at->second, one);
      }
    }
    for (const auto& [layer, times] : chosen) {
      if (all.measured[layer] < 2) continue;
      const double loss = times.second / all.best_us[layer] - 1;
      ++judged.layers;
      judged.mean += loss;
      if (loss > judged.worst) {
        judged.worst = loss;
        judged.worst_layer = conv::label(all.layers[layer]);
      }
    }
  }
  if (judged.layers > 0) judged.mean /= judged.layers;
  return judged;
}

const CostModel* model_of(const ConvolutionRule& rule, const std::string& variant) {
  const auto found = std::find_if(rule.models.begin(), rule.models.end(),
                                  [&](const CostModel& one) { return one.variant == variant; });
  return found == rule.models.end() ? nullptr : &*found;
}

// The fastest of a measured layer, of those that are given.
const BestOfLayer* best_of(const ConvolutionRule& rule, const std::string& label,
                           std::span<const Contender> contenders) {
  const BestOfLayer* best = nullptr;
  for (const BestOfLayer& one : rule.layers) {
    if (one.layer != label || (best != nullptr && best->us <= one.us)) continue;
    const bool is_given =
        std::any_of(contenders.begin(), contenders.end(),
                    [&](const Contender& other) { return other.variant == one.variant; });
    if (is_given) best = &one;
  }
  return best;
}

// A contender that is measured again and takes so many times as long is slower, and not only by chance.
constexpr double kSlower = 1.02;

// The layer's fastest becomes this one, if it is faster: without tensor cores; with them it is another entry.
void offer(ConvolutionRule& rule, const MeasuredTime& time, std::span<const Contender> contenders) {
  const auto its = std::find_if(contenders.begin(), contenders.end(),
                                [&](const Contender& one) { return one.variant == time.variant; });
  if (its == contenders.end()) return;
  std::vector<Contender> alike;
  for (const Contender& one : contenders) {
    if (one.tensor_cores == its->tensor_cores) alike.push_back(one);
  }
  const std::string label = conv::label(time.layer);
  const BestOfLayer* const overall = best_of(rule, label, contenders);
  if (its->tensor_cores && overall != nullptr && overall->us <= time.us) return;
  const BestOfLayer* const best = best_of(rule, label, alike);
  if (best == nullptr) {
    rule.layers.push_back({label, time.variant, time.us});
  } else if (time.us < best->us) {
    rule.layers[static_cast<std::size_t>(best - rule.layers.data())] = {label, time.variant,
                                                                        time.us};
  }
}

}  // namespace

CostTerms cost_terms(const LaunchWork& work, int sms) {
  const double waves = std::ceil(work.blocks / (1.0 * sms * work.resident));
  return {1.0 * work.launches,
          waves,
          waves * work.steps,
          std::ceil(work.blocks / sms) * work.steps,
          work.blocks * work.steps / sms,
          work.cluster > 1 ? waves : 0,
          work.megabytes};
}

ConvolutionRule parse_rule(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    ConvolutionRule rule;
    rule.gpu = json.get<std::string>("gpu");
    for (const Json& one : json.at("also_for").elements()) {
      rule.also_for.push_back(one.get<std::string>());
    }
    rule.sms = json.get<int>("multiprocessors");
    rule.date = json.get<std::string>("date");
    rule.command = json.get<std::string>("command");
    const Json& left_out = json.at("left_out");
    rule.left_out = {left_out.get<int>("layers"), left_out.get<double>("mean"),
                     left_out.get<double>("worst"), left_out.get<std::string>("worst_layer")};
    for (const Json& one : json.at("added").elements()) {
      rule.added.push_back(one.get<std::string>());
    }
    for (const Json& one : json.at("models").elements()) {
      CostModel model;
      model.variant = one.get<std::string>("variant");
      model.layers = one.get<int>("layers");
      model.error = one.get<double>("error");
      const Json& coefficients = one.at("microseconds");
      for (std::size_t i = 0; i < kCostTerms.size(); ++i) {
        model.coefficients[i] = coefficients.get_or(kCostTerms[i].name, 0.0);
        if (!(model.coefficients[i] >= 0)) {
          throw std::runtime_error("a coefficient of " + model.variant + " is negative");
        }
      }
      for (const json::Member& member : coefficients.members()) {
        const bool known =
            std::any_of(kCostTerms.begin(), kCostTerms.end(),
                        [&](const CostTerm& term) { return member.name == term.name; });
        if (!known) throw std::runtime_error("there is no term " + member.name);
      }
      rule.models.push_back(std::move(model));
    }
    for (const Json& one : json.at("layers").elements()) {
      const auto& fields = one.elements();
      if (fields.size() != 3) throw std::runtime_error("a layer has a label, a variant and a time");
      rule.layers.push_back(
          {fields[0].get<std::string>(), fields[1].get<std::string>(), fields[2].get<double>()});
    }
    if (rule.sms < 1) throw std::runtime_error("there are no multiprocessors");
    return rule;
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("no rule of convolutions: ") + error.what());
  }
}

std::string to_text(const ConvolutionRule& rule) {
  const auto member = [](const char* name, const Json& value) {
    return "\"" + std::string(name) + "\": " + value.dump();
  };
  const auto listed = [](const char* name, const std::vector<Json>& values) {
    std::string text = "\"" + std::string(name) + "\": [";
    for (const Json& value : values) text += (&value == &values[0] ? "\n" : ",\n") + value.dump();
    return text + "\n]";
  };
  std::vector<Json> models;
  for (const CostModel& model : rule.models) {
    Json coefficients = Json::object();
    for (std::size_t i = 0; i < kCostTerms.size(); ++i) {
      if (model.coefficients[i] > 0) {
        coefficients[kCostTerms[i].name] = six_digits(model.coefficients[i]);
      }
    }
    models.push_back(Json::object({{"variant", model.variant},
                                   {"microseconds", coefficients},
                                   {"layers", model.layers},
                                   {"error", six_digits(model.error)}}));
  }
  std::vector<Json> layers;
  for (const BestOfLayer& layer : rule.layers) {
    Json one = Json::array();
    one.push_back(layer.layer);
    one.push_back(layer.variant);
    one.push_back(six_digits(layer.us));
    layers.push_back(std::move(one));
  }
  const LeftOut& left_out = rule.left_out;
  return "{\n" + member("gpu", rule.gpu) + ",\n" + member("also_for", rule.also_for) + ",\n" +
         member("multiprocessors", rule.sms) + ",\n" + member("date", rule.date) + ",\n" +
         member("command", rule.command) + ",\n" +
         member("left_out", Json::object({{"layers", left_out.layers},
                                          {"mean", six_digits(left_out.mean)},
                                          {"worst", six_digits(left_out.worst)},
                                          {"worst_layer", left_out.worst_layer}})) +
         ",\n" + member("added", rule.added) + ",\n" + listed("models", models) + ",\n" +
         listed("layers", layers) + "\n}\n";
}

namespace {

ConvolutionRule rule_of(const data::RuleTable& table) {
  ConvolutionRule rule;
  rule.gpu = table.gpu;
  rule.also_for.assign(table.also_for.begin(), table.also_for.end());
  rule.sms = table.multiprocessors;
  rule.date = table.date;
  rule.command = table.command;
  rule.left_out = {table.left_out_layers, table.left_out_mean, table.left_out_worst,
                   std::string(table.left_out_worst_layer)};
  rule.added.assign(table.added.begin(), table.added.end());
  for (const data::RuleModel& one : table.models) {
    CostModel& model = rule.models.emplace_back();
    model.variant = one.variant;
    model.layers = one.layers;
    model.error = one.error;
    for (const data::RuleTerm& term : one.terms) {
      const auto at = std::find_if(kCostTerms.begin(), kCostTerms.end(),
                                   [&](const CostTerm& known) { return term.name == known.name; });
      model.coefficients.at(static_cast<std::size_t>(at - kCostTerms.begin())) = term.microseconds;
    }
  }
  rule.layers.reserve(table.layers.size());
  for (const data::RuleLayer& one : table.layers) {
    rule.layers.push_back({std::string(one.layer), std::string(one.variant), one.us});
  }
  return rule;
}

}  // namespace

const std::vector<ConvolutionRule>& known_rules() {
  static const std::vector<ConvolutionRule> all = [] {
    std::vector<ConvolutionRule> rules;
    for (const data::RuleTable& table : data::convolution_rules()) rules.push_back(rule_of(table));
    return rules;
  }();
  return all;
}

const ConvolutionRule& rule_for(const std::string& gpu_name) {
  for (const ConvolutionRule& rule : known_rules()) {
    if (rule.gpu == gpu_name) return rule;
  }
  for (const ConvolutionRule& rule : known_rules()) {
    if (counts_on(rule, gpu_name)) return rule;
  }
  return known_rules().front();
}

bool counts_on(const ConvolutionRule& rule, const std::string& gpu_name) {
  return rule.gpu == gpu_name ||
         std::find(rule.also_for.begin(), rule.also_for.end(), gpu_name) != rule.also_for.end();
}

std::vector<Candidate> candidates(const ConvolutionRule& rule,
                                  std::span<const Contender> contenders, const ConvLayer& layer,
                                  const ChoiceOn& on) {
  const BestOfLayer* const best =
      counts_on(rule, on.gpu) ? best_of(rule, conv::label(layer), contenders) : nullptr;
  std::vector<Candidate> all;
  for (const Contender& contender : contenders) {
    Candidate& candidate = all.emplace_back(&contender, refusal(contender, layer, on.limits));
    if (!candidate.refusal.empty()) continue;
    if (best != nullptr && best->variant == contender.variant) {
      candidate.us = best->us;
      candidate.measured = true;
    } else if (const CostModel* const model = model_of(rule, contender.variant)) {
      candidate.us = predicted(model->coefficients,
                               cost_terms(contender.work(layer, on.limits), on.limits.sms));
    }
  }
  const auto rank = [](const Candidate& one) {
    if (!one.refusal.empty()) return std::pair(3, 0.0);
    if (one.measured) return std::pair(0, 0.0);
    return one.us >= 0 ? std::pair(1, one.us) : std::pair(2, 0.0);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Candidate& a, const Candidate& b) { return rank(a) < rank(b); });
  return all;
}

const Contender* choose(const ConvolutionRule& rule, std::span<const Contender> contenders,
                        const ConvLayer& layer, const ChoiceOn& on) {
  const std::vector<Candidate> all = candidates(rule, contenders, layer, on);
  return all.empty() || !all.front().refusal.empty() ? nullptr : all.front().contender;
}

std::string explain(const ConvolutionRule& rule, std::span<const Contender> contenders,
                    const ConvLayer& layer, const ChoiceOn& on) {
  std::string text = "layer " + conv::label(layer) + " on " + on.gpu + ", " +
                     std::to_string(on.limits.sms) + " SMs\n  by the rule of " + rule.gpu + ", " +
                     rule.date.substr(0, 10);
  if (!counts_on(rule, on.gpu)) {
    text += ": another GPU, so its models decide, with these SMs";
  } else if (rule.gpu != on.gpu) {
    text += ", which counts here too";
  }
  if (rule.left_out.layers > 0) {
    text += "; the models alone take " + percent(rule.left_out.mean) +
            " more than the best on layers they were not fitted to, " +
            percent(rule.left_out.worst) + " at worst";
    for (const std::string& variant : rule.added) text += ", without " + variant;
  }
  text += "\n";
  const std::vector<Candidate> all = candidates(rule, contenders, layer, on);
  std::size_t widest = 0;
  for (const Candidate& one : all) widest = std::max(widest, one.contender->variant.size());
  for (const Candidate& one : all) {
    const std::string& name = one.contender->variant;
    const bool chosen = &one == &all.front() && one.refusal.empty();
    text += (chosen ? "* " : "  ") + name + std::string(widest - name.size() + 2, ' ');
    if (!one.refusal.empty()) {
      text += "refuses: " + one.refusal;
    } else if (one.measured) {
      text += microseconds(one.us) + ", measured: the fastest on this layer";
    } else if (one.us >= 0) {
      const LaunchWork work = one.contender->work(layer, on.limits);
      text += microseconds(one.us) + " predicted: " + rounded(work.blocks, 6) + " blocks, " +
              std::to_string(work.resident) + " at a time on an SM, of " + rounded(work.steps, 6) +
              " steps";
      if (work.cluster > 1) text += ", in clusters of " + std::to_string(work.cluster);
      if (work.launches > 1) text += ", " + std::to_string(work.launches) + " launches";
    } else {
      text += "the rule does not know it";
    }
    text += "\n";
  }
  return text;
}

ConvolutionRule fit(std::span<const MeasuredTime> times, std::span<const Contender> contenders,
                    const ChoiceOn& on) {
  const Measurements all = gather(times, contenders, on);
  ConvolutionRule rule;
  rule.gpu = on.gpu;
  rule.sms = on.limits.sms;
  const std::vector<CostTerms> coefficients =
      fit_all(all, std::vector<bool>(all.layers.size(), false));
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (all.samples[i].empty()) continue;
    CostModel model{contenders[i].variant, coefficients[i], static_cast<int>(all.samples[i].size()),
                    0};
    std::vector<double> errors;
    for (const Sample& sample : all.samples[i]) {
      errors.push_back(std::fabs(predicted(coefficients[i], sample.terms) / sample.us - 1));
    }
    model.error = median(std::move(errors));
    rule.models.push_back(std::move(model));
  }
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    if (all.measured[i] < 2) continue;  // nobody knows who is fastest
    for (const bool tensor_cores : {false, true}) {
      BestOfLayer best{conv::label(all.layers[i]), "", tensor_cores ? all.best_us[i] : HUGE_VAL};
      for (std::size_t contender = 0; contender < contenders.size(); ++contender) {
        if (contenders[contender].tensor_cores != tensor_cores) continue;
        for (const Sample& sample : all.samples[contender]) {
          if (sample.layer != i || sample.us >= best.us) continue;
          best.variant = contenders[contender].variant;
          best.us = sample.us;
        }
      }
      if (!best.variant.empty()) rule.layers.push_back(best);
    }
  }
  rule.left_out = judge_left_out(all, contenders);
  return rule;
}

ConvolutionRule add(ConvolutionRule rule, std::span<const MeasuredTime> times,
                    std::span<const Contender> contenders, const ChoiceOn& on) {
  const ConvolutionRule alone = fit(times, contenders, on);
  if (alone.models.size() != 1) {
    throw std::invalid_argument("times of one contender are added to a rule, not of " +
                                std::to_string(alone.models.size()));
  }
  const CostModel& model = alone.models.front();
  for (const MeasuredTime& time : times) {
    if (time.variant != model.variant) continue;
    const std::string label = conv::label(time.layer);
    const auto its_own = [&](const BestOfLayer& one) {
      return one.layer == label && one.variant == model.variant;
    };
    const auto own = std::find_if(rule.layers.begin(), rule.layers.end(), its_own);
    if (own != rule.layers.end()) {
      // It was the fastest. Where it is slower now, nobody knows who is.
      if (time.us > kSlower * own->us) {
        rule.layers.erase(own);
      } else {
        own->us = time.us;
      }
    } else if (best_of(rule, label, contenders) != nullptr) {
      offer(rule, time, contenders);
    }
  }
  std::erase_if(rule.models, [&](const CostModel& one) { return one.variant == model.variant; });
  rule.models.push_back(model);
  std::erase(rule.added, model.variant);
  rule.added.push_back(model.variant);
  return rule;
}

ConvolutionRule refine(ConvolutionRule rule, std::span<const MeasuredTime> times,
                       std::span<const Contender> contenders, const ChoiceOn& on) {
  const Measurements all = gather(times, contenders, on);
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    if (all.measured[i] < 2) {
      throw std::invalid_argument(conv::label(all.layers[i]) +
                                  ": one contender alone says nothing of which is the fastest");
    }
    std::erase_if(rule.layers,
                  [&](const BestOfLayer& one) { return one.layer == conv::label(all.layers[i]); });
  }
  for (const MeasuredTime& time : times) offer(rule, time, contenders);
  return rule;
}

}  // namespace halo::convolve
