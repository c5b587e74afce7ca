// Which kernel computes each layer, and in which layout: chosen from costs.
//
// A layer has kernels in one layout or in both, and each kernel a cost. Between two layers that keep
// their maps in different layouts stands a transform, which has a cost as well. So a plan is a way through
// a graph of two nodes for each layer, and the cheapest way is found layer by layer: the cheapest way to
// have layer i's output in a layout is the cheapest of the two ways that layer i-1 can hand over, plus
// the transform if the layouts differ, plus layer i's best kernel in that layout. A transform is in the
// plan only where it pays, taking all layers into account. A kernel of several layers is an edge that passes over
// the nodes between.
//
// Everything here is arithmetic on costs that somebody gives (costs.hpp).
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/network/catalogue.hpp"

namespace halo::network {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What a kernel costs. kNever: it cannot be used, and `note` says why.
struct Price {
  double cost = kNever;
  std::string note;
};

// A kernel with its price.
struct Option {
  Kernel kernel;
  Price price;
};

// All that a layer may be computed by. Arrays by layout: [Layout::nchw], [Layout::chwn].
struct LayerOptions {
  std::vector<Option> kernels;                    // of both layouts
  std::array<std::vector<Option>, 2> bias;        // bias and ReLU, where the layer has them
  std::array<std::vector<Option>, 2> transforms;  // of the layer's input, to each layout
  std::vector<Option> several;  // of this layer and some behind it (Kernel::of_layers), in NCHW
  bool same_memory = false;     // of the input: a change of layout is nothing but another name
  bool needs_bias = false;
};

struct Costs {
  Network network;
  std::string unit;  // "us", "MB"
  std::vector<LayerOptions> layers;
};

// Whether a plan may have this layer in this layout.
using LayoutRule = std::function<bool(const Layer&, conv::Layout)>;

// One layer of a plan.
struct PlannedLayer {
  conv::Layout layout = conv::Layout::nchw;  // of what its kernel reads and writes
  const Option* transform = nullptr;         // of its input, before it; null: none
  const Option* kernel = nullptr;  // null: the kernel of a layer before computes this one too
  const Option* bias = nullptr;    // null: none, or the kernel adds it

  double cost() const;
};

struct Plan {
  std::vector<PlannedLayer> layers;
  double cost = 0;

  int transforms() const;
  /// Whether a kernel but the first one can begin before the one before it has ended.
  bool can_overlap() const;
  /// Whether any of its kernels multiplies there.
  bool on_tensor_cores() const;
};

/// The cheapest plan that keeps to the rule; the network's input is NCHW, and so is its output. Among
/// plans that cost the same, that with the fewest changes before. Throws std::runtime_error, in one line
/// that names a layer, if there is none. The plan points into `costs`.
Plan cheapest_plan(const Costs& costs, const LayoutRule& rule);

/// Rules: every layout; one layout for all layers (softmax, whose rows are images, stays as it is).
bool any_layout(const Layer& layer, conv::Layout layout);
LayoutRule only(conv::Layout layout);

/// Li et al. (SC'16), section IV: a convolution of C channels on N images is in CHWN if C < Ct or N >= Nt,
/// else in NCHW, and pooling always in CHWN. It says nothing of fully connected layers: the cheaper.
LayoutRule paper_rule(std::int64_t Ct, std::int64_t Nt);

/// What a change of layout is worth: the transform before layer `first` and the one that ends its run of
/// layers (if the plan has one) against leaving these layers in the layout of the layer before.
struct Excursion {
  std::size_t first = 0;
  std::size_t last = 0;     // the last layer in this layout
  double transforms = 0;    // what the transforms at both ends cost
  double cost = 0;          // these layers as planned, with both transforms
  double instead = kNever;  // the same layers in the other layout, without transforms
};
/// All of a plan, in order. A plan is as cheap as can be, so `instead` is never below `cost`.
std::vector<Excursion> excursions(const Costs& costs, const Plan& plan);

/// The plan in words and figures: for each layer the candidates' costs, what was chosen, the transforms
/// and what they save. `how`: one sentence on what the costs are. `others`: further plans by name, for
/// their totals.
std::string explain(const Costs& costs, const Plan& plan, const std::string& how,
                    const std::vector<std::pair<std::string, std::string>>& others);

/// "12.3 us".
std::string in_words(double cost, const std::string& unit);

}  // namespace halo::network
