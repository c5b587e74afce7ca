// The variants of stage 11.
#include "stages/11_fused_pooling/expansion.hpp"
#include "stages/11_fused_pooling/fused_pooling.hpp"
#include "stages/11_fused_pooling/predict.hpp"
#include "stages/11_fused_pooling/stage.hpp"

namespace halo::fused_pooling {

namespace {

using conv::Layout;
using conv::PoolingLayer;

Layer layer_of(const PoolingLayer& layer) {
  return {layer.N(),
          layer.C(),
          layer.H(),
          layer.W(),
          layer.R(),
          layer.S(),
          layer.P(),
          layer.Q(),
          layer.stride_h(),
          layer.stride_w(),
          layer.padding_h(),
          layer.padding_w(),
          layer.kind() == conv::Pooling::average};
}

std::string text(Expansion expansion) {
  return std::to_string(expansion.rows) + "x" + std::to_string(expansion.columns);
}

// The launch, the prediction and what is told of it, with the expansion that `choose` names.
PoolingVariant reuse(Layout layout, std::function<Expansion(const PoolingLayer&)> choose) {
  PoolingVariant variant;
  variant.layout = layout;
  variant.source = layout == Layout::chwn ? "stages/11_fused_pooling/3_chwn_reuse.cu"
                                          : "stages/11_fused_pooling/4_nchw_reuse.cu";
  variant.launch = [=](const ProblemCall<conv::PoolingLayer>& c) {
    const Expansion expansion = choose(c.problem);
    const Layer layer = layer_of(c.problem);
    return layout == Layout::chwn
               ? chwn_reuse(c.input, c.output, layer, expansion.rows, expansion.columns)
               : nchw_reuse(c.input, c.output, layer, expansion.rows);
  };
  variant.predict = [=](const PoolingLayer& layer) {
    return predict_reuse(layer, layout, choose(layer));
  };
  variant.detail = [=](const PoolingLayer& layer) {
    return text(choose(layer)) + " outputs a thread";
  };
  return variant;
}

PoolingVariant chosen_reuse(Layout layout) {
  PoolingVariant variant =
      reuse(layout, [=](const PoolingLayer& layer) { return choose_expansion(layer, layout); });
  variant.name = std::string(conv::to_string(layout)) + "_reuse";
  variant.description = layout == Layout::chwn ? "several outputs a thread, cells from registers"
                                               : "several outputs of a column a thread";
  return variant;
}

PoolingVariant fixed_reuse(Layout layout, Expansion expansion) {
  PoolingVariant variant = reuse(layout, [=](const PoolingLayer&) { return expansion; });
  variant.name = std::string(conv::to_string(layout)) + "_" + text(expansion);
  variant.description = "the same with " + text(expansion) + " outputs a thread";
  variant.refuses = [=](const PoolingLayer& layer) { return why_not(layer, layout, expansion); };
  return variant;
}

}  // namespace

PoolingStage stage() {
  PoolingVariant rows;
  rows.name = "nchw";
  rows.source = "stages/11_fused_pooling/1_nchw.cu";
  rows.description = "one output a thread, lanes across columns";
  rows.layout = Layout::nchw;
  rows.launch = [](const ProblemCall<conv::PoolingLayer>& c) {
    return nchw(c.input, c.output, layer_of(c.problem));
  };
  rows.predict = [](const PoolingLayer& layer) { return predict_plain(layer, Layout::nchw); };

  PoolingVariant images;
  images.name = "chwn";
  images.source = "stages/11_fused_pooling/2_chwn.cu";
  images.description = "one output a thread, lanes across images";
  images.layout = Layout::chwn;
  images.launch = [](const ProblemCall<conv::PoolingLayer>& c) {
    return chwn(c.input, c.output, layer_of(c.problem));
  };
  images.predict = [](const PoolingLayer& layer) { return predict_plain(layer, Layout::chwn); };

  PoolingStage stage;
  stage.name = "11_fused_pooling";
  stage.variants = {rows, images, chosen_reuse(Layout::chwn), chosen_reuse(Layout::nchw)};
  for (int down = 1; down <= kLargestExpansion; down *= 2) {
    stage.searched.push_back(fixed_reuse(Layout::nchw, {down, 1}));
    for (int across = 1; across <= kLargestExpansion; across *= 2) {
      stage.searched.push_back(fixed_reuse(Layout::chwn, {down, across}));
    }
  }
  return stage;
}

}  // namespace halo::fused_pooling
