// Which layout a convolution layer gets: the rule of Li et al., "Optimizing Memory Efficiency for Deep
// Convolutional Neural Networks on GPUs" (SC'16), judged by measured times, and thresholds that fit
// these. Plain C++: no GPU is asked.
//
// The rule: CHWN if C < Ct or N >= Nt, else NCHW. Few channels leave a matrix
// multiplication little to do for each output, and many images give images_across_lanes, which is
// cuda-convnet's method, its 4 images a thread. Zhang's presentation of the paper (2018) prints N > Nt;
// with Titan Black's Nt = 128 that sends CV4 (C = 64, N = 128) to NCHW, while Fig. 3 has it faster in
// CHWN. So >= is meant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"

namespace halo::network {

struct Thresholds {
  std::string name;     // "Titan Black"
  std::int64_t Ct = 0;  // CHWN below so many channels
  std::int64_t Nt = 0;  // CHWN from so many images on

  bool operator==(const Thresholds&) const = default;
};

/// The published ones: GTX Titan Black (32, 128) and GTX Titan X (128, 64).
std::vector<Thresholds> published_thresholds();
/// Those of "gtxtitanblack" or "gtxtitanx". Throws std::invalid_argument, in one line, for another key.
Thresholds published_thresholds_of(std::string_view key);

/// The rule, for a layer of C channels and N images.
conv::Layout chosen_layout(const Thresholds& thresholds, std::int64_t C, std::int64_t N);

/// What each of the thresholds chooses for the layer, and by which half of the rule: lines of text.
std::string explain(const conv::ConvLayer& layer, std::span<const Thresholds> all);

/// One layer's measured times: the fastest implementation with CHWN maps, and with NCHW maps.
struct LayerTimes {
  conv::ConvLayer layer;
  double chwn_ms = 0;
  double nchw_ms = 0;

  double of(conv::Layout layout) const { return layout == conv::Layout::chwn ? chwn_ms : nchw_ms; }
  /// The faster; NCHW where they are equal.
  conv::Layout best() const { return chwn_ms < nchw_ms ? conv::Layout::chwn : conv::Layout::nchw; }
};

/// What the rule with some thresholds would have cost on measured layers.
struct Judgement {
  int layers = 0;
  int right = 0;            // the chosen layout takes no longer than the other
  double chosen_ms = 0;     // all layers, each in the layout that was chosen for it
  double best_ms = 0;       // all layers, each in its best layout
  double worst = 1;         // chosen / best of the layer where that is largest
  std::string worst_layer;  // conv::label; empty: all are right

  /// How much more than the best choices the chosen ones take, as a share of these: 0.1 is 10 %.
  double regret() const { return chosen_ms / best_ms - 1; }
};

/// Throws std::invalid_argument, in one line, if there are no layers, or a time is not above 0.
Judgement judge(const Thresholds& thresholds, std::span<const LayerTimes> layers);

/// The thresholds with which all layers together take the least time; of those the ones that are
/// right most often; of those with the smallest Ct, then the largest Nt, so that the rule says CHWN
/// only where that gains. Every pair that can make a difference is tried: Ct each C of the layers
/// (CHWN below it), Nt each N, and both one more than the largest, where the rule's half says CHWN
/// for all layers, or for none. Throws as judge.
struct Fit {
  Thresholds thresholds;
  Judgement judgement;
  // As far down as these the thresholds could be with the same choice for every layer: other layers
  // would have told them apart.
  std::int64_t lowest_Ct = 0;
  std::int64_t lowest_Nt = 0;
};
Fit fit(std::span<const LayerTimes> layers);

}  // namespace halo::network
