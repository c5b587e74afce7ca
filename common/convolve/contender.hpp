// A kernel of ours with the numbers that its launch is made by (tiles, a split of the channels), as far as
// it is chosen among others for a layer (rule.hpp): what it takes, and how much work a GPU has
// with it. Each plan that has such numbers gives a list of them, which is plain data and arithmetic: no GPU is asked.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/gpus/gpu_figures.hpp"

namespace halo::convolve {

/// What one call makes a GPU do. The cost model of a contender multiplies terms of these by coefficients of
/// its own, so `steps` may count whatever its blocks take in equal turns, if it always counts the same.
struct LaunchWork {
  int launches = 1;   // kernels, one after the other
  double blocks = 1;  // of the main one's grid
  int resident = 1;   // of its blocks, that an SM holds at a time
  double steps = 1;   // that each of its blocks makes one after the other
  int cluster = 1;    // blocks of a cluster, which wait for each other
  double megabytes =
      0;  // that all blocks together load and store, from the L2 cache or memory; 0: who knows
};

/// Why a contender does not take a layer, or what it makes a GPU do there.
struct Offer {
  std::string refusal;  // as the end of a sentence; empty: it takes the layer
  LaunchWork work;      // unless it refuses
};

/// `work()`, unless there is a refusal.
template <class Work>
Offer offer_unless(const std::string& refusal, Work work) {
  return refusal.empty() ? Offer{"", work()} : Offer{refusal, {}};
}

struct Contender {
  /// Of the variant that runs it, in its stage's variants or among those that its --search tries: no two
  /// contenders have the same.
  std::string variant;
  /// For a layer of a kind that it takes, on such a GPU.
  std::function<Offer(const conv::ConvLayer&, const gpus::GpuLimits&)> offer;
  /// It multiplies on tensor cores, each factor in two parts of TF32: chosen only where somebody allows it.
  bool tensor_cores = false;
};

}  // namespace halo::convolve
