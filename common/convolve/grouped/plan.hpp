// How grouped.cu divides a layer, and what it must cost. Plain C++: no GPU is asked.
#pragma once

#include <span>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/grouped/division.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// Those that kernels are compiled for, in the order in which they are tried.
std::span<const GroupedShape> grouped_shapes();

struct GroupedPlan {
  std::string refusal;  // the end of a sentence; empty: there is a division
  GroupedShape shape{};
  GroupedDivision division{};
  long long blocks = 0;
  long long packed_floats = 0;
};

/// Sets of eight or four filters where that leaves every SM eight warps of threads with one row, else of one. Of the shapes
/// that the layer allows (quads only where rows of input and output are whole quads, one over the other; pairs where a
/// stride of two takes whole pairs) the first that gives every SM four warps, in quads of several channels sixteen, else
/// the last that has as many columns as the first.
GroupedPlan plan_grouped(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);
/// With this shape, which may refuse the layer.
GroupedPlan plan_grouped(const conv::ConvLayer& layer, const GroupedShape& shape);

/// What the kernel must cost with the plan, and what a bias costs more.
Cost grouped_cost(const conv::ConvLayer& layer, const GroupedPlan& plan);
Cost grouped_bias_cost(const conv::ConvLayer& layer, const GroupedPlan& plan);

/// Steps are a thread's loads, of windows and of taps.
LaunchWork work_of(const conv::ConvLayer& layer, const GroupedPlan& plan);

/// For people: outputs of a thread, blocks and what they are of.
std::string described(const GroupedPlan& plan);

}  // namespace halo::convolve
