// Which tile warpgroup.cu takes for a layer, and what it must cost. Plain C++: no GPU is asked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/warpgroup/tile.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// The kernel's tiles. Each is a contender, warpgroup_SIZES.
const std::vector<WarpgroupTile>& warpgroup_tiles();
/// FILTERS, of few outputs FILTERSxOUTPUTS; and with two parts _p2 behind it.
std::string sizes_of(const WarpgroupTile& tile);

struct WarpgroupPlan {
  std::string refusal;  // empty: it takes the layer
  WarpgroupTile tile{};
  WarpgroupPixelsBy pixels_by = WarpgroupPixelsBy::one;
  WarpgroupTiles tiles;
  int blocks = 0;  // in clusters of as many as a sum has parts, each with every so manieth tile
  std::int64_t packed_floats = 0;
};

/// With the tile, none of few outputs, whose turns of blocks take the least time.
WarpgroupPlan plan_warpgroup(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// A fully connected layer with its roles exchanged: outputs are the pixels of one map, whose channels are features, and images
/// are filters. So the filters, transposed, are read as they are, and what is split before is the smaller factor.
conv::ConvLayer outputs_as_pixels(const conv::ConvLayer& layer);
/// For outputs_as_pixels(layer). (With clusters of four blocks fewer SMs are idle, but an H200 holds fewer of them at a time
/// than its SMs would: slower.) Refuses what is not fully connected.
WarpgroupPlan plan_fully_connected(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// With this tile, one of warpgroup_tiles. Refused on GPUs without wgmma, and where the packed filters or the tiles
/// would be too many for an int; two parts, where there are fewer pieces.
WarpgroupPlan exact_warpgroup(const conv::ConvLayer& layer, const WarpgroupTile& tile,
                              const gpus::GpuLimits& gpu);

/// Of products of matrices, one for each frequency of a transform: an image is a frequency, and has filters of its own,
/// packed one after the other. For layers of 1 x 1 filters; also refused where an image's pixels are no whole tiles, and
/// two parts.
WarpgroupPlan exact_matrices(const conv::ConvLayer& matrices, const WarpgroupTile& tile,
                             const gpus::GpuLimits& gpu);

/// Of a plan: the tiles of a block or cluster, one after the other.
std::int64_t turns_of(const WarpgroupPlan& plan);
/// How long it takes, in pieces of 128 filters; fitted to times on an H200 of layers with 128 images.
double time_of(const WarpgroupPlan& plan);

/// How much work a GPU has with a plan. Steps are pieces, and one more for a tile's sums.
LaunchWork work_of(const conv::ConvLayer& layer, const WarpgroupPlan& plan);

/// What the kernel must cost so, its filters packed before; and what a bias costs more.
Cost warpgroup_cost(const conv::ConvLayer& layer, const WarpgroupPlan& plan);
Cost warpgroup_bias_cost(const conv::ConvLayer& layer, const WarpgroupPlan& plan);
/// What it costs to pack the filters of a layer of 1 x 1 filters.
Cost warpgroup_packing_cost(const conv::ConvLayer& layer, const WarpgroupPlan& plan);

}  // namespace halo::convolve
