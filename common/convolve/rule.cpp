#include "common/convolve/rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "common/data/convolution_rules.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

std::string rounded(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}
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

const CostModel* model_of(const ConvolutionRule& rule, const std::string& variant) {
  const auto found = std::find_if(rule.models.begin(), rule.models.end(),
                                  [&](const CostModel& one) { return one.variant == variant; });
  return found == rule.models.end() ? nullptr : &*found;
}

// The fastest of a measured layer, of those that are given.
const BestOfLayer* best_of(const std::vector<BestOfLayer>& measured, const std::string& label,
                           std::span<const Contender> contenders) {
  const BestOfLayer* best = nullptr;
  for (const BestOfLayer& one : measured) {
    if (one.layer != label || (best != nullptr && best->us <= one.us)) continue;
    const bool is_given =
        std::any_of(contenders.begin(), contenders.end(),
                    [&](const Contender& other) { return other.variant == one.variant; });
    if (is_given) best = &one;
  }
  return best;
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
      if (at == kCostTerms.end()) {
        throw std::logic_error("the rule of " + rule.gpu +
                               " has a term that is unknown: " + std::string(term.name));
      }
      model.coefficients[static_cast<std::size_t>(at - kCostTerms.begin())] = term.microseconds;
    }
  }
  const auto layers = [](std::span<const data::RuleLayer> from, std::vector<BestOfLayer>& to) {
    to.reserve(from.size());
    for (const data::RuleLayer& one : from) {
      to.push_back({std::string(one.layer), std::string(one.variant), one.us});
    }
  };
  layers(table.layers, rule.layers);
  layers(table.packing, rule.packing);
  layers(table.overlapping, rule.overlapping);
  return rule;
}

}  // namespace

const char* word_for(Calls calls) {
  return calls == Calls::packed ? "" : calls == Calls::packing ? "packing" : "overlapping";
}

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
                                  const ChoiceOn& on, Calls calls) {
  const BestOfLayer* best = nullptr;
  if (counts_on(rule, on.gpu)) {
    const std::string label = conv::label(layer);
    if (calls != Calls::packed) {
      const auto& others = calls == Calls::packing ? rule.packing : rule.overlapping;
      best = best_of(others, label, contenders);
    }
    if (best == nullptr) best = best_of(rule.layers, label, contenders);
  }
  std::vector<Candidate> all;
  for (const Contender& contender : contenders) {
    Candidate& candidate = all.emplace_back(&contender, contender.offer(layer, on.limits));
    if (!candidate.offer.refusal.empty()) continue;
    if (best != nullptr && best->variant == contender.variant) {
      candidate.us = best->us;
      candidate.measured = true;
    } else if (const CostModel* const model = model_of(rule, contender.variant)) {
      candidate.us =
          predicted(model->coefficients, cost_terms(candidate.offer.work, on.limits.sms));
    }
  }
  const auto rank = [](const Candidate& one) {
    if (!one.offer.refusal.empty()) return std::pair(3, 0.0);
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
  return all.empty() || !all.front().offer.refusal.empty() ? nullptr : all.front().contender;
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
    const bool chosen = &one == &all.front() && one.offer.refusal.empty();
    text += (chosen ? "* " : "  ") + name + std::string(widest - name.size() + 2, ' ');
    if (!one.offer.refusal.empty()) {
      text += "refuses: " + one.offer.refusal;
    } else if (one.measured) {
      text += microseconds(one.us) + ", measured: the fastest on this layer";
    } else if (one.us >= 0) {
      const LaunchWork& work = one.offer.work;
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

}  // namespace halo::convolve
