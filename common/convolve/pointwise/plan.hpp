// How pointwise.cu divides a layer: the pixels and filters of a thread, and of a block; and what it must cost. Plain
// C++: no GPU is asked.
#pragma once

#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/convolve/pointwise/tile.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// The kernel's tiles, those for few pixels first. Each is a contender, pointwise_P_F (name_of).
const std::vector<PointwiseTile>& pointwise_tiles();
std::string name_of(const PointwiseTile& tile);

/// Why the kernel does not take the layer with this tile, as the end of a sentence; empty: it does.
std::string refuses(const conv::ConvLayer& layer, const PointwiseTile& tile,
                    const gpus::GpuLimits& gpu);

/// The largest tile with which the layer has a block for each SM; the first if none has. Nothing is measured:
/// the dispatcher knows better.
PointwiseTile plan_pointwise(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// Blocks of the kernel's grid.
std::int64_t blocks_of(const conv::ConvLayer& layer, const PointwiseTile& tile);

/// What the kernel must cost with the tile, and what a bias costs more.
Cost pointwise_cost(const conv::ConvLayer& layer, const PointwiseTile& tile);
Cost pointwise_bias_cost(const conv::ConvLayer& layer, const PointwiseTile& tile);

}  // namespace halo::convolve
