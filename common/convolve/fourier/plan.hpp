// How a layer is divided for convolution by Fourier's transform, and what it must cost: tiles, slices of images, blocks of the
// products. Plain C++: no GPU is asked.
#pragma once

#include <cstdint>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/fourier/division.hpp"
#include "common/convolve/slices.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

struct FourierPlan {
  std::string refusal;  // empty: there is a plan
  FourierDivision division{};
  std::int64_t packed_floats = 0;     // of the transformed filters
  std::int64_t workspace_floats = 0;  // transformed inputs, then sums, of a slice
  double microseconds = 0;            // foreseen on an H200: only to be compared with another plan
};

/// Tiles of size x size cells, 16 or 32. Refuses strides, filters of one tap or of more than half a tile, more transformed filters
/// than an array can have, and an image whose temporaries are more than `most_floats`. Throws std::out_of_range
/// for another size.
FourierPlan exact_fourier(const conv::ConvLayer& layer, int size,
                          std::int64_t most_floats = kMostTemporaries);

/// The size with which less time is foreseen.
FourierPlan plan_fourier(const conv::ConvLayer& layer, std::int64_t most_floats = kMostTemporaries);

/// The same for products on tensor cores, which a GPU before compute capability 8.0 has not, and whose blocks are
/// others: division.side filters and kSplitTiles tiles.
FourierPlan exact_fourier_split(const conv::ConvLayer& layer, int size, const gpus::GpuLimits& gpu,
                                std::int64_t most_floats = kMostTemporaries);
FourierPlan plan_fourier_split(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu,
                               std::int64_t most_floats = kMostTemporaries);

/// "fourier_16", "fourier_32"; "fourier_split_16", "fourier_split_32".
std::string fourier_name(int size);
std::string fourier_split_name(int size);

/// How much work a GPU has with a plan, of either kind. Steps are chunks.
LaunchWork work_of(const conv::ConvLayer& layer, const FourierPlan& plan, bool tensor_cores);

/// What the kernels must cost, and what a bias costs either more.
Cost fourier_cost(const conv::ConvLayer& layer, const FourierPlan& plan);
Cost fourier_split_cost(const conv::ConvLayer& layer, const FourierPlan& plan);
Cost fourier_bias_cost(const conv::ConvLayer& layer, const FourierPlan& plan);

}  // namespace halo::convolve
