#include "common/network/layout_choice.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <tuple>

namespace halo::network {

namespace {

using conv::ConvLayer;
using Count = int (ConvLayer::*)() const;

constexpr const char* kTitanBlack = "gtxtitanblack";
constexpr const char* kTitanX = "gtxtitanx";

void require_layers(std::span<const LayerTimes> layers) {
  if (layers.empty()) throw std::invalid_argument("no layers to judge thresholds by");
  for (const LayerTimes& each : layers) {
    if (!(each.chwn_ms > 0) || !(each.nchw_ms > 0)) {
      throw std::invalid_argument("layer " + conv::label(each.layer) + ": a time is above 0");
    }
  }
}

// The layers' numbers, and one more than the largest.
std::vector<std::int64_t> candidates(std::span<const LayerTimes> layers, Count count) {
  std::set<std::int64_t> values;
  for (const LayerTimes& each : layers) values.insert((each.layer.*count)());
  values.insert(*values.rbegin() + 1);
  return {values.begin(), values.end()};
}

// The least threshold that separates the layers' numbers as this one does.
std::int64_t lowest_like(std::int64_t threshold, std::span<const LayerTimes> layers, Count count) {
  std::int64_t lowest = 1;
  for (const LayerTimes& each : layers) {
    const std::int64_t value = (each.layer.*count)();
    if (value < threshold) lowest = std::max(lowest, value + 1);
  }
  return lowest;
}

}  // namespace

std::vector<Thresholds> published_thresholds() {
  return {published_thresholds_of(kTitanBlack), published_thresholds_of(kTitanX)};
}

Thresholds published_thresholds_of(std::string_view key) {
  if (key == kTitanBlack) return {"Titan Black", 32, 128};
  if (key == kTitanX) return {"Titan X", 128, 64};
  throw std::invalid_argument("thresholds are published for " + std::string(kTitanBlack) + " and " +
                              kTitanX + ", not for '" + std::string(key) + "'");
}

conv::Layout chosen_layout(const Thresholds& thresholds, std::int64_t C, std::int64_t N) {
  return C < thresholds.Ct || N >= thresholds.Nt ? conv::Layout::chwn : conv::Layout::nchw;
}

std::string explain(const ConvLayer& layer, std::span<const Thresholds> all) {
  std::size_t widest = 0;
  for (const Thresholds& one : all) widest = std::max(widest, one.name.size());
  std::string text = "layer " + conv::label(layer) + ": C " + std::to_string(layer.C()) + ", N " +
                     std::to_string(layer.N()) + "; CHWN if C < Ct or N >= Nt\n";
  for (const Thresholds& one : all) {
    const std::string Ct = std::to_string(one.Ct);
    const std::string Nt = std::to_string(one.Nt);
    text += "  " + one.name + std::string(widest - one.name.size(), ' ') + "  ";
    if (chosen_layout(one, layer.C(), layer.N()) == conv::Layout::nchw) {
      text += "NCHW: C >= " + Ct + " and N < " + Nt + "\n";
      continue;
    }
    const bool few_channels = layer.C() < one.Ct;
    const bool many_images = layer.N() >= one.Nt;
    text += "CHWN: ";
    if (few_channels) text += "C < " + Ct;
    if (few_channels && many_images) text += " and ";
    if (many_images) text += "N >= " + Nt;
    text += "\n";
  }
  return text;
}

Judgement judge(const Thresholds& thresholds, std::span<const LayerTimes> layers) {
  require_layers(layers);
  Judgement judgement;
  for (const LayerTimes& each : layers) {
    const double chosen = each.of(chosen_layout(thresholds, each.layer.C(), each.layer.N()));
    const double best = each.of(each.best());
    ++judgement.layers;
    if (chosen <= best) ++judgement.right;
    judgement.chosen_ms += chosen;
    judgement.best_ms += best;
    if (chosen / best > judgement.worst) {
      judgement.worst = chosen / best;
      judgement.worst_layer = conv::label(each.layer);
    }
  }
  return judgement;
}

Fit fit(std::span<const LayerTimes> layers) {
  require_layers(layers);
  Fit best;
  bool first = true;
  const auto rank = [](const Thresholds& thresholds, const Judgement& judgement) {
    return std::tuple(judgement.chosen_ms, -judgement.right, thresholds.Ct, -thresholds.Nt);
  };
  for (const std::int64_t Ct : candidates(layers, &ConvLayer::C)) {
    for (const std::int64_t Nt : candidates(layers, &ConvLayer::N)) {
      const Thresholds thresholds{"fitted", Ct, Nt};
      const Judgement judgement = judge(thresholds, layers);
      if (first || rank(thresholds, judgement) < rank(best.thresholds, best.judgement)) {
        best.thresholds = thresholds;
        best.judgement = judgement;
      }
      first = false;
    }
  }
  best.lowest_Ct = lowest_like(best.thresholds.Ct, layers, &ConvLayer::C);
  best.lowest_Nt = lowest_like(best.thresholds.Nt, layers, &ConvLayer::N);
  return best;
}

}  // namespace halo::network
