#include "common/network/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "common/network/layout_choice.hpp"

namespace halo::network {

namespace {

using conv::Layout;

constexpr std::array<Layout, 2> kLayouts{Layout::nchw, Layout::chwn};
std::size_t index_of(Layout layout) { return static_cast<std::size_t>(layout); }

double cost_of(const Option* option) { return option == nullptr ? 0 : option->price.cost; }

const Option* cheapest(const std::vector<Option>& options) {
  const Option* best = nullptr;
  for (const Option& option : options) {
    if (option.price.cost == kNever) continue;
    if (best == nullptr || option.price.cost < best->price.cost) best = &option;
  }
  return best;
}

// The layer's cheapest computation in a layout, without a transform; no kernel if there is none.
PlannedLayer cheapest_in(const LayerOptions& options, Layout layout) {
  PlannedLayer best;
  double least = kNever;
  const Option* const bias = cheapest(options.bias[index_of(layout)]);
  for (const Option& option : options.kernels) {
    if (option.kernel.from != layout) continue;
    const bool separate = options.needs_bias && !option.kernel.adds_bias;
    if (separate && bias == nullptr) continue;
    const double cost = option.price.cost + (separate ? cost_of(bias) : 0);
    if (cost >= least) continue;
    least = cost;
    best = {layout, nullptr, &option, separate ? bias : nullptr};
  }
  return best;
}

// The change of the layer's input to `to`: null if there is none to make. False: it cannot be made.
bool change(const LayerOptions& options, Layout from, Layout to, const Option*& transform) {
  transform = nullptr;
  if (from == to || options.same_memory) return true;
  transform = cheapest(options.transforms[index_of(to)]);
  return transform != nullptr;
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

// Throws: names the layer that no way goes beyond.
[[noreturn]] void refuse(const Network& network, std::size_t reached) {
  const Layer& layer = network.layers()[reached];
  throw std::runtime_error("no kernel can be used for layer " + layer.name + " of " +
                           network.name() + " (" + describe(layer) + ")");
}

std::string upper(Layout layout) { return layout == Layout::nchw ? "NCHW" : "CHWN"; }

}  // namespace

double PlannedLayer::cost() const { return cost_of(transform) + cost_of(kernel) + cost_of(bias); }

int Plan::transforms() const {
  return static_cast<int>(std::count_if(layers.begin(), layers.end(), [](const PlannedLayer& each) {
    return each.transform != nullptr;
  }));
}

bool Plan::can_overlap() const {
  const auto can = [](const Option* option) {
    return option != nullptr && option->kernel.can_overlap;
  };
  for (const PlannedLayer& layer : layers) {
    const bool is_first = &layer == &layers.front() && layer.transform == nullptr;
    if (can(layer.transform) || (!is_first && can(layer.kernel))) return true;
  }
  return false;
}

bool Plan::on_tensor_cores() const {
  return std::any_of(layers.begin(), layers.end(), [](const PlannedLayer& layer) {
    return layer.kernel != nullptr && conv::is_split(layer.kernel->kernel.demand);
  });
}

bool any_layout(const Layer&, Layout) { return true; }

LayoutRule only(Layout layout) {
  return [layout](const Layer& layer, Layout asked) {
    return kind_of(layer) == Kind::softmax || asked == layout;
  };
}

LayoutRule paper_rule(std::int64_t Ct, std::int64_t Nt) {
  const Thresholds thresholds{"", Ct, Nt};
  return [thresholds](const Layer& layer, Layout asked) {
    const conv::Images images = input_of(layer);
    switch (kind_of(layer)) {
      case Kind::convolution:
        return asked == chosen_layout(thresholds, images.C(), images.N());
      case Kind::pooling:
        return asked == Layout::chwn;
      default:
        return true;
    }
  };
}

Plan cheapest_plan(const Costs& costs, const LayoutRule& rule) {
  struct Way {
    double cost = kNever;
    std::vector<PlannedLayer> layers;
  };
  const std::vector<Layer>& layers = costs.network.layers();
  // [doc:ways]
  // ways[i]: the cheapest way to have the output of the first i layers in each layout.
  std::vector<std::array<Way, 2>> ways(layers.size() + 1);
  ways[0][index_of(Layout::nchw)].cost = 0;  // pictures come as NCHW

  for (std::size_t i = 0; i < layers.size(); ++i) {
    // On from both ways that lead here, with a kernel for this layer and perhaps some behind it.
    const auto go_on = [&](PlannedLayer here, std::size_t end) {
      Way& way = ways[end][index_of(here.layout)];
      // From the same layout first: of two ways that cost the same, that without a transform.
      for (const Layout from : {here.layout, other(here.layout)}) {
        const Way& before = ways[i][index_of(from)];
        if (before.cost == kNever) continue;
        if (!change(costs.layers[i], from, here.layout, here.transform)) continue;
        const double cost = before.cost + here.cost();
        if (cost >= way.cost) continue;
        way = {cost, before.layers};
        way.layers.push_back(here);
        way.layers.resize(end);  // those behind have no kernel of their own
      }
    };
    // [/doc:ways]
    for (const Layout layout : kLayouts) {
      const PlannedLayer here = cheapest_in(costs.layers[i], layout);
      if (here.kernel != nullptr && rule(layers[i], layout)) go_on(here, i + 1);
    }
    for (const Option& option : costs.layers[i].several) {
      const std::size_t end = i + option.kernel.of_layers.size();
      const auto may = [&](const Layer& layer) { return rule(layer, Layout::nchw); };
      if (option.price.cost == kNever) continue;
      if (!std::all_of(&layers[i], layers.data() + end, may)) continue;
      go_on({Layout::nchw, nullptr, &option, nullptr}, end);
    }
  }
  // The last layer is a softmax, which writes NCHW and nothing else.
  const Way& best = ways.back()[index_of(Layout::nchw)];
  if (best.cost == kNever) {
    std::size_t reached = layers.size() - 1;
    while (ways[reached][0].cost == kNever && ways[reached][1].cost == kNever) --reached;
    refuse(costs.network, reached);
  }
  return {best.layers, best.cost};
}

std::vector<Excursion> excursions(const Costs& costs, const Plan& plan) {
  std::vector<Excursion> all;
  const std::size_t count = plan.layers.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (plan.layers[i].transform == nullptr) continue;
    Excursion here;
    here.first = i;
    here.last = i;
    while (here.last + 1 < count && plan.layers[here.last + 1].layout == plan.layers[i].layout) {
      ++here.last;
    }
    double instead = 0;
    for (std::size_t j = here.first; j <= here.last; ++j) {
      here.cost += plan.layers[j].cost();
      const PlannedLayer unchanged = cheapest_in(costs.layers[j], other(plan.layers[i].layout));
      instead += unchanged.kernel == nullptr ? kNever : unchanged.cost();
    }
    here.transforms = cost_of(plan.layers[i].transform);
    if (here.last + 1 < count) {
      const double back = cost_of(plan.layers[here.last + 1].transform);
      here.transforms += back;
      here.cost += back;
    }
    here.instead = instead;
    all.push_back(here);
  }
  return all;
}

std::string in_words(double cost, const std::string& unit) {
  if (cost == kNever) return "none";
  char text[64];
  std::snprintf(text, sizeof text, cost >= 100 ? "%.0f" : cost >= 10 ? "%.1f" : "%.3f", cost);
  return std::string(text) + " " + unit;
}

std::string explain(const Costs& costs, const Plan& plan, const std::string& how,
                    const std::vector<std::pair<std::string, std::string>>& others) {
  const std::vector<Layer>& layers = costs.network.layers();
  std::string text = "Plan for " + costs.network.name() + ", " +
                     std::to_string(costs.network.images()) +
                     (costs.network.images() == 1 ? " image" : " images") + ". " + how + "\n";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const PlannedLayer& planned = plan.layers[i];
    text += "\n" + padded(layers[i].name, 9) + describe(layers[i]) + "\n";
    // Of bias and ReLU, where the kernel leaves them to another one.
    const auto bias_behind = [&](const Option& option) {
      const bool separate = costs.layers[i].needs_bias && !option.kernel.adds_bias &&
                            !option.kernel.in_place && option.kernel.from == option.kernel.to;
      return separate ? cheapest(costs.layers[i].bias[index_of(option.kernel.from)]) : nullptr;
    };
    const auto line = [&](const Option& option, const std::string& mark, bool chosen) {
      const Option* const bias = bias_behind(option);
      text += std::string(chosen ? "  -> " : "     ") + padded(mark, 10) +
              padded(short_name(option.kernel), 26) +
              (option.price.cost == kNever
                   ? option.price.note
                   : in_words(option.price.cost, costs.unit) +
                         (option.price.note.empty() ? "" : " (" + option.price.note + ")") +
                         (bias == nullptr
                              ? ""
                              : ", and bias and ReLU " + in_words(bias->price.cost, costs.unit))) +
              "\n";
    };
    if (planned.transform != nullptr) line(*planned.transform, "to " + upper(planned.layout), true);
    for (const Layout layout : kLayouts) {
      std::vector<const Option*> sorted;
      for (const Option& option : costs.layers[i].kernels) {
        if (option.kernel.from == layout) sorted.push_back(&option);
      }
      const auto whole = [&](const Option* option) {
        return option->price.cost + cost_of(bias_behind(*option));
      };
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](const Option* a, const Option* b) { return whole(a) < whole(b); });
      for (const Option* option : sorted) line(*option, upper(layout), option == planned.kernel);
    }
    if (planned.bias != nullptr) line(*planned.bias, upper(planned.layout), true);
    for (const Option& option : costs.layers[i].several) {
      const std::size_t more = option.kernel.of_layers.size() - 1;
      line(option, "+" + std::to_string(more) + (more == 1 ? " layer" : " layers"),
           &option == planned.kernel);
    }
    if (planned.kernel == nullptr) text += "  -> with the layers before\n";
  }

  text += "\n";
  const std::vector<Excursion> all = excursions(costs, plan);
  bool any_pays = false;
  for (const Excursion& each : all) {
    if (each.instead == kNever) continue;  // nothing was chosen there
    any_pays = true;
    const std::string where = each.first == each.last
                                  ? layers[each.first].name
                                  : layers[each.first].name + " to " + layers[each.last].name;
    text += where + " in " + upper(plan.layers[each.first].layout) + ": " +
            in_words(each.cost, costs.unit) + ", of it " + in_words(each.transforms, costs.unit) +
            " for transforms; in " + upper(other(plan.layers[each.first].layout)) + " " +
            in_words(each.instead, costs.unit) + ": saves " +
            in_words(each.instead - each.cost, costs.unit) + ".\n";
  }
  if (!any_pays) text += "No transform pays.\n";
  std::size_t width = std::string("planned").size();
  for (const auto& [name, total] : others) width = std::max(width, name.size());
  text += padded("planned", width + 2) + in_words(plan.cost, costs.unit) +
          ", transforms: " + std::to_string(plan.transforms()) + "\n";
  for (const auto& [name, total] : others) text += padded(name, width + 2) + total + "\n";
  return text;
}

}  // namespace halo::network
