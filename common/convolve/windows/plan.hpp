// How windows.cu divides a layer of few channels, and what it must cost. Plain C++: no GPU is asked.
#pragma once

#include <span>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/windows/block.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// The outputs of a thread that a kernel is compiled for, and how many filters its block may have.
struct WindowShape {
  int channels, size;  // of the layer; rows and columns of its filters
  int stride;          // down and across; 0: any
  int rows, columns;
  int fewest_filters, most_filters;
};

/// Those of one channel and of several, in the order in which they are tried. The numbers are measured, on an H200.
std::span<const WindowShape> one_channel_shapes();
std::span<const WindowShape> few_channel_shapes();

struct WindowPlan {
  std::string refusal;  // the end of a sentence; empty: there is a block
  WindowBlock block{};
  long long blocks = 0;
};

/// The block for a layer. Of the shapes that it allows (quads only where rows of input and output are whole quads,
/// one over the other), the first that gives every SM one and a half blocks with its fewest filters, else
/// the last that has as many columns as the first; then as many filters, halved from the most, as leave it so
/// many blocks.
WindowPlan plan_one_channel(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);
WindowPlan plan_few_channels(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// What the kernel must cost with the block that was planned for the layer.
Cost window_cost(const conv::ConvLayer& layer, const WindowBlock& block);
/// And what a bias costs more: a load of each warp that has outputs, for each filter.
Cost window_bias_cost(const conv::ConvLayer& layer, const WindowBlock& block);

/// For people: outputs of a thread, blocks and what they are of.
std::string described(const WindowPlan& plan);

}  // namespace halo::convolve
