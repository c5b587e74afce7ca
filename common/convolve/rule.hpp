// Which of our kernels computes a layer: a rule fitted to measured times (stages/convolve/refit.py), kept as data
// (common/data/rules), and printed for people. Plain C++: no GPU is asked.
//
// A layer that was measured gets the contender that was fastest on it. Any other gets the one whose cost
// model says the least time: for each contender a few coefficients, none negative, fitted to its times on
// the measured layers, over the terms of kCostTerms.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/convolve/contender.hpp"

namespace halo::convolve {

/// A term of the cost model: its name in the data, and what it counts.
struct CostTerm {
  const char* name;
  const char* counts;
};
// [doc:terms]
inline constexpr std::array kCostTerms = {
    CostTerm{"launch", "launches"},
    CostTerm{"wave", "turns in which all SMs together take the blocks, rounded up"},
    CostTerm{"wave_step", "those times the steps of a block: what waits for latency"},
    CostTerm{"sm_step", "steps of the SM that has most blocks: what waits for arithmetic"},
    CostTerm{"step", "steps of all blocks over the SMs, not rounded"},
    CostTerm{"cluster", "waves of blocks that wait for each other"},
    CostTerm{"megabyte", "megabytes that are loaded and stored"},
};
// [/doc:terms]
using CostTerms = std::array<double, kCostTerms.size()>;

/// What the terms are for such work on so many SMs.
CostTerms cost_terms(const LaunchWork& work, int sms);

/// Microseconds of a call: the sum of coefficients times terms.
struct CostModel {
  std::string variant;
  CostTerms coefficients{};
  int layers = 0;    // that it was fitted to
  double error = 0;  // the median of |predicted / measured - 1| on them
};

/// A layer of which several contenders were measured, and the one that was fastest: of those without tensor
/// cores; and, in another entry, one with them if that was faster still.
struct BestOfLayer {
  std::string layer;  // conv::label
  std::string variant;
  double us = 0;
};

/// What choosing by models alone costs on such layers, when they are not fitted to them, as shares of the
/// best contender's time: 0.05 is 5 % longer. Without those on tensor cores. Layers that differ in their images only are left out together.
struct LeftOut {
  int layers = 0;
  double mean = 0;
  double worst = 0;
  std::string worst_layer;  // empty: the best was chosen everywhere
};

struct ConvolutionRule {
  std::vector<std::string>
      added;        // contenders that came later: what leaving out costs is without them
  std::string gpu;  // its name: "NVIDIA H200"
  // Others with the same SMs, on which its fastest contenders are the fastest too, as far as was measured.
  std::vector<std::string> also_for;
  int sms = 0;
  std::string date;     // of the measurements
  std::string command;  // that made them
  LeftOut left_out;
  std::vector<CostModel> models;
  std::vector<BestOfLayer> layers;
  // Of these layers, those on which another is the fastest where each call packs its filters, with the packing; and where
  // calls overlap.
  std::vector<BestOfLayer> packing, overlapping;
};

/// The rules that this program was built with.
const std::vector<ConvolutionRule>& known_rules();
/// Whether its measured layers count on a GPU of this name.
bool counts_on(const ConvolutionRule& rule, const std::string& gpu_name);
/// The one of a GPU of this name, or one that counts there; of an unknown GPU the first, whose models are then asked with
/// the GPU's own number of SMs.
const ConvolutionRule& rule_for(const std::string& gpu_name);

/// A GPU, as far as a choice goes by it.
struct ChoiceOn {
  std::string gpu;  // its name
  gpus::GpuLimits limits;
};

/// How a layer is called.
enum class Calls {
  packed,       // filters are packed once for any number of calls: its time does not count
  packing,      // they change before each call: the kernel that is the fastest with its packing
  overlapping,  // packed, and a call may begin while the launch before it ends (Conv2dCall::overlaps)
};
/// "", "packing" or "overlapping".
const char* word_for(Calls calls);

/// One contender and a layer.
struct Candidate {
  const Contender* contender;
  Offer offer;
  double us = -1;  // predicted, or measured; negative: nobody knows
  bool measured = false;
};

/// All contenders that are given, the chosen one first: the fastest of a measured layer (where the rule counts), then by predicted time; then those that the rule does not know, in the order of the list; then
/// those that refuse.
std::vector<Candidate> candidates(const ConvolutionRule& rule,
                                  std::span<const Contender> contenders,
                                  const conv::ConvLayer& layer, const ChoiceOn& on,
                                  Calls calls = Calls::packed);
/// The chosen one; null: none takes the layer.
const Contender* choose(const ConvolutionRule& rule, std::span<const Contender> contenders,
                        const conv::ConvLayer& layer, const ChoiceOn& on);
/// Why: a line for the rule, one for each candidate. Lines of text.
std::string explain(const ConvolutionRule& rule, std::span<const Contender> contenders,
                    const conv::ConvLayer& layer, const ChoiceOn& on);

}  // namespace halo::convolve
