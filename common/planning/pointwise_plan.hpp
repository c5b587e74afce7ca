// How stage 09's pointwise kernel divides a layer of 1 x 1 filters: the pixels and filters of a thread, and
// of a block. Host arithmetic only.
#pragma once

#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/planning/contender.hpp"
#include "common/planning/pointwise_tile.hpp"

namespace halo::cuconv_two_stage {

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

/// A contender for each tile.
std::vector<planning::Contender> pointwise_contenders();

}  // namespace halo::cuconv_two_stage
