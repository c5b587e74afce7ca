// How a layer is divided for Winograd's method, and what it must cost: which of the shapes that a kernel is compiled for, and
// over how many blocks the channels go where tiles and filters are too few. Plain C++: no GPU is asked.
#pragma once

#include <cstdint>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/slices.hpp"
#include "common/convolve/warpgroup/plan.hpp"
#include "common/convolve/winograd/division.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// Blocks of a cluster, at most: what every GPU with clusters takes.
inline constexpr int kMostWinogradParts = 8;

struct WinogradPlan {
  std::string refusal;  // empty: there is a plan
  WinogradDivision division{};
  int threads = 0;
  std::int64_t blocks = 0;
  std::int64_t shared_bytes = 0;   // of a block
  std::int64_t packed_floats = 0;  // of the transformed filters
};

/// This shape (of kWinogradShapes) with the channels over `parts` blocks. Refuses a layer with strides, filters
/// of another size than the shape's, or more transformed filters than an array can have; a GPU without clusters or
/// without room for a block; parts that are no power of two, more than kMostWinogradParts or more than there are chunks of
/// channels. Throws std::out_of_range if there is no such shape.
WinogradPlan exact_winograd(const conv::ConvLayer& layer, int shape, int parts,
                            const gpus::GpuLimits& gpu);

/// "winograd_4x4_k64_t16_p2": a shape, with its filters and tiles a block, and a number of parts.
std::string winograd_name(int shape, int parts);

/// The one to take where nothing was measured, of those whose tiles have outputs x outputs: the shape and the parts
/// with which the rounds of blocks are shortest.
WinogradPlan plan_winograd(const conv::ConvLayer& layer, int outputs, const gpus::GpuLimits& gpu);

struct ApartPlan {
  std::string refusal;  // empty: there is a plan
  ApartDivision division{};
  std::int64_t packed_floats = 0;     // of the transformed filters
  std::int64_t workspace_floats = 0;  // transformed inputs, then sums, of a slice
};

/// Winograd's method in three kernels, with the products of each group by themselves. Refuses filters that are not 3, 4 or
/// 5 strides long, rounded up, as many down as across; more groups than a grid has rows for, or more transformed filters
/// than an array can have; an image whose temporaries are more than `most_floats`; and a GPU without room for a block. With `outputs` also filters for which no shape has so many.
ApartPlan plan_winograd_apart(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                              std::int64_t most_floats = kMostTemporaries, int block = kBestBlock,
                              int outputs = kMostOutputs);

struct WinogradSplitPlan {
  std::string refusal;       // empty: there is a plan
  ApartDivision division{};  // but for the block; tile_pitch is exact
  WarpgroupPlan products;    // an image for each frequency: filters are pixels, tiles are filters
  std::int64_t packed_floats = 0;     // of the transformed filters
  std::int64_t workspace_floats = 0;  // transformed inputs in two parts, then sums, of a slice
};

/// The same with products on tensor cores, with one of kWinogradSplitTiles. Refuses what
/// plan_winograd_apart and warpgroup refuse, and groups.
WinogradSplitPlan exact_winograd_split(const conv::ConvLayer& layer, const WarpgroupTile& tile,
                                       const gpus::GpuLimits& gpu,
                                       std::int64_t most_floats = kMostTemporaries,
                                       int outputs = kMostOutputs);
/// With those, of whole 128 filters, whose products take the least time.
WinogradSplitPlan plan_winograd_split(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                                      std::int64_t most_floats = kMostTemporaries);
/// "winograd_split_4x4_64": outputs of a tile, tiles of a block; of 64 filters "winograd_split_4x4_32x64".
std::string winograd_split_name(int outputs, const WarpgroupTile& tile);
/// The products, as a layer.
conv::ConvLayer winograd_matrices(const ApartDivision& division);

/// "winograd_apart_4x4_64x32": outputs of a tile, filters and tiles of a block of kApartBlocks.
std::string apart_name(int outputs, int block);

/// How much work a GPU has with a plan, or one in three kernels. Steps are chunks, or of warpgroups turns' pieces.
LaunchWork work_of(const conv::ConvLayer& layer, const WinogradPlan& plan);
LaunchWork work_of(const conv::ConvLayer& layer, const ApartPlan& plan);
LaunchWork work_of(const conv::ConvLayer& layer, const WinogradSplitPlan& plan);

/// What the kernels must cost, and what a bias costs more.
Cost winograd_cost(const conv::ConvLayer& layer, const WinogradPlan& plan);
Cost winograd_bias_cost(const conv::ConvLayer& layer, const WinogradPlan& plan);
Cost winograd_apart_cost(const conv::ConvLayer& layer, const ApartPlan& plan);
Cost winograd_apart_bias_cost(const conv::ConvLayer& layer, const ApartPlan& plan);
Cost winograd_split_cost(const conv::ConvLayer& layer, const WinogradSplitPlan& plan);
Cost winograd_split_bias_cost(const conv::ConvLayer& layer, const WinogradSplitPlan& plan);

}  // namespace halo::convolve
