// Which tile split_tf32.cu takes for a layer, and what it must cost. Plain C++: no GPU is asked.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/split_tf32/tile.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// A number of filters a block, and what it costs, fitted to times on an H200 of cuConv's layers at batch 8,
/// 32 and 128. The unit is a stage of the sum in a block of 128 filters; with this rule the layers take 0.3 % more
/// than with the better shape of each, the worst 9 %.
struct SplitShape {
  int filters;
  int resident;  // blocks of an SM at a time, for which there are registers
  double stage;  // of so many blocks
  double alone;  // of one that has the SM to itself
  double ends;   // of a block's begin and end, as far as no other block works meanwhile
  // Of the last turn's time, what is lost where it is not full. Two blocks of an SM do not end together, so that what is
  // left is shared out.
  double lost;
};
inline constexpr std::array kSplitShapes = {
    SplitShape{128, 1, 1.0, 1.0, 1.0, 1.0},
    SplitShape{64, 2, 1.2, 0.55, 0.0, 0.25},
};

struct SplitPlan {
  std::string refusal;  // empty: there is a tile
  SplitTile tile{};
  std::int64_t blocks = 0;
  std::int64_t pieces = 0;  // of the sum of one output
  std::int64_t packed_floats = 0;
};

/// The shape whose turns of blocks take the least time. Refused where an SM has too little shared memory, or
/// the packed filters would be too many for an array.
SplitPlan plan_split_tf32(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// With so many filters a block, one of kSplitShapes; refused likewise.
SplitPlan exact_split_tf32(const conv::ConvLayer& layer, int filters, const gpus::GpuLimits& gpu);

/// What the kernel must cost with the tile; its filters are packed before.
Cost split_tf32_cost(const conv::ConvLayer& layer, const SplitTile& tile);

}  // namespace halo::convolve
