// The variants of stage 11 whose launch takes a choice, and what all must cost.
#include <memory>

#include "common/gpus/present_gpu.hpp"
#include "common/harness/families/pooling.hpp"
#include "stages/11_fused_pooling/costs.hpp"
#include "stages/11_fused_pooling/expansion.hpp"

namespace halo::fused_pooling {

// In files 3 to 5.
int chwn_reuse(const PoolingCall& call, int rows, int columns);
int nchw_reuse(const PoolingCall& call, int rows);
int chwn_rolling(const PoolingCall& call, int strip);

namespace {

using conv::Layout;
using conv::PoolingLayer;

PoolingCall call_of(const ProblemCall<PoolingLayer>& c) {
  return {numbers_of(c.problem), c.problem.kind() == conv::Pooling::average, c.input, c.output,
          c.overlaps};
}

std::string text(Expansion expansion) {
  return std::to_string(expansion.rows) + "x" + std::to_string(expansion.columns);
}

// With the expansion that `choose` names, unless `why_not` has something against it.
PoolingVariant reuse(Layout layout, std::function<Expansion(const PoolingLayer&)> choose,
                     std::function<std::string(const PoolingLayer&)> why_not = {}) {
  PoolingVariant variant;
  variant.layout = layout;
  variant.source = layout == Layout::chwn ? "stages/11_fused_pooling/3_chwn_reuse.cu"
                                          : "stages/11_fused_pooling/4_nchw_reuse.cu";
  variant.can_overlap = layout == Layout::nchw;
  variant.prepare = [=](const PoolingLayer& layer) {
    Prepared<PoolingLayer> made;
    if (why_not) made.refusal = why_not(layer);
    if (!made.refusal.empty()) return made;
    const Expansion expansion = choose(layer);
    made.launch = [=](const ProblemCall<PoolingLayer>& c) {
      const PoolingCall call = call_of(c);
      return layout == Layout::chwn ? chwn_reuse(call, expansion.rows, expansion.columns)
                                    : nchw_reuse(call, expansion.rows);
    };
    made.cost = [=] { return predict_reuse(layer, layout, expansion); };
    made.detail = [=] { return text(expansion) + " outputs per thread"; };
    return made;
  };
  return variant;
}

PoolingVariant chosen_reuse(Layout layout) {
  PoolingVariant variant = reuse(layout, [=](const PoolingLayer& layer) {
    return choose_expansion(layer, layout, gpus::present_limits().sms);
  });
  variant.plans = true;
  variant.tiles = [=](const PoolingLayer&) {
    return layout == Layout::chwn ? std::vector<TileSizes>{{.N = 32, .C = 4}}
                                  : std::vector<TileSizes>{{.cells = 256}};
  };
  variant.name = std::string(conv::to_string(layout)) + "_reuse";
  variant.description = layout == Layout::chwn ? "several outputs per thread, cells from registers"
                                               : "several outputs of a column per thread";
  return variant;
}

PoolingVariant fixed_reuse(Layout layout, Expansion expansion) {
  PoolingVariant variant = reuse(
      layout, [=](const PoolingLayer&) { return expansion; },
      [=](const PoolingLayer& layer) { return why_not(layer, layout, expansion); });
  variant.name = std::string(conv::to_string(layout)) + "_" + text(expansion);
  variant.description = "the same with " + text(expansion) + " outputs per thread";
  return variant;
}

PoolingVariant rolling(std::string name, std::function<int(const PoolingLayer&)> choose) {
  PoolingVariant variant;
  variant.name = std::move(name);
  variant.source = "stages/11_fused_pooling/5_chwn_rolling.cu";
  variant.description = "tuned: a thread goes down a strip of outputs, four images at a time";
  variant.layout = Layout::chwn;
  variant.prepare = [choose](const PoolingLayer& layer) {
    Prepared<PoolingLayer> made;
    const int strip = choose(layer);
    made.launch = [strip](const ProblemCall<PoolingLayer>& c) {
      return chwn_rolling(call_of(c), strip);
    };
    made.cost = [layer, strip] { return predict_rolling(layer, strip); };
    made.detail = [strip] { return std::to_string(strip) + " outputs per thread"; };
    return made;
  };
  variant.tiles = [](const PoolingLayer&) {
    return std::vector<TileSizes>{{.N = 4, .P = kLongestStrip}};
  };
  return variant;
}

}  // namespace

// `searched` are the kernels of steps 3 and 4 with each expansion that they have, whatever
// choose_expansion says: "chwn_2x4" has 2 x 4 outputs per thread, and refuses layers where why_not says
// something. "chwn_1x1" differs from "chwn" in its loops only, so against it reuse is compared alone.
void complete(PoolingStage& stage) {
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    variant(stage, conv::to_string(layout)).must_cost([=](const PoolingLayer& layer) {
      return predict_plain(layer, layout);
    });
  }
  stage.variants.push_back(chosen_reuse(Layout::chwn));
  stage.variants.push_back(chosen_reuse(Layout::nchw));
  PoolingVariant planned = rolling("chwn_rolling", [](const PoolingLayer& layer) {
    return strip_of(layer, gpus::present_limits().sms);
  });
  planned.plans = true;
  // Small problems have strips of one output: on the tiny GPU they are tried with those of large ones.
  planned.limited = std::make_shared<PoolingVariant>(
      rolling("chwn_rolling", [](const PoolingLayer&) { return kLongestStrip; }));
  stage.variants.push_back(planned);
  for (const int strip : {1, 2, 3, 4, 8}) {
    stage.searched.push_back(rolling("chwn_rolling_" + std::to_string(strip),
                                     [=](const PoolingLayer&) { return strip; }));
  }
  for (int down = 1; down <= kLargestExpansion; down *= 2) {
    stage.searched.push_back(fixed_reuse(Layout::nchw, {down, 1}));
    for (int across = 1; across <= kLargestExpansion; across *= 2) {
      stage.searched.push_back(fixed_reuse(Layout::chwn, {down, across}));
    }
  }
  stage.searched.push_back(fixed_reuse(Layout::nchw, {kLongColumn, 1}));
}

}  // namespace halo::fused_pooling
