// Which tile register_tile.cu takes for a layer, and what it must cost: a list of shapes that are compiled (tile.hpp), and a
// rule that chooses among them, and how many blocks share a tile, by a model of the time. Plain C++: no GPU is asked.
#pragma once

#include <array>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/register_tile/tile.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// Blocks that may share a tile. A cluster of more than 8 is not portable.
inline constexpr std::array kRegisterParts = {1, 2, 3, 4, 6, 8};

/// What a call does, of a layer that is not refused. Steps are segments.
LaunchWork work_of(const conv::ConvLayer& layer, const RegisterTile& tile);

/// The model's time in microseconds, on an H200 but for the number of SMs: turns of blocks, each as long as its
/// segments wait for data or as the SM's blocks compute, whichever is longer.
double estimated_us(const conv::ConvLayer& layer, const RegisterTile& tile,
                    const gpus::GpuLimits& gpu);

/// One tile, or why there is none.
struct RegisterTilePlan {
  std::string refusal;  // empty: there is a tile
  RegisterTile tile{};
};

/// This shape, and so many parts or as many as there are segments. Refused on a GPU without clusters, or with too
/// little shared memory.
RegisterTilePlan exact_register_tile(const conv::ConvLayer& layer, int shape, int parts,
                                     const gpus::GpuLimits& gpu);

/// The shape and the parts of which the model expects the least time, of those that fit.
RegisterTilePlan plan_register_tile(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// The shapes and parts that somebody else may choose among, by measurements: on 1,900 times of an H200 the best
/// of these was on average within a per cent of the best of all.
struct ShapeAndParts {
  int shape, parts;
};
inline constexpr std::array kRegisterContenders = {
    ShapeAndParts{0, 1}, ShapeAndParts{1, 1}, ShapeAndParts{1, 2}, ShapeAndParts{2, 1},
    ShapeAndParts{2, 2}, ShapeAndParts{2, 4}, ShapeAndParts{2, 6}, ShapeAndParts{2, 8},
    ShapeAndParts{3, 1}, ShapeAndParts{3, 2}, ShapeAndParts{3, 4}, ShapeAndParts{4, 1},
    ShapeAndParts{4, 2}, ShapeAndParts{4, 4}, ShapeAndParts{5, 1}, ShapeAndParts{5, 2},
    ShapeAndParts{5, 8}, ShapeAndParts{6, 1}, ShapeAndParts{6, 3}, ShapeAndParts{6, 8},
    ShapeAndParts{7, 1}};

/// Of a variant of one of them: "register_tile_64x128_8x8_p2".
std::string register_tile_name(const ShapeAndParts& one);

/// What the kernel must cost with the tile, and what a bias costs more.
Cost register_tile_cost(const conv::ConvLayer& layer, const RegisterTile& tile);
Cost register_tile_bias_cost(const conv::ConvLayer& layer, const RegisterTile& tile);

}  // namespace halo::convolve
