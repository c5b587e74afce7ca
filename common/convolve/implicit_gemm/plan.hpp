// How implicit_gemm.cu divides a layer: tiles of outputs over blocks, and the reduction over the warps of a block and the
// blocks of a cluster; and what it must cost. Plain C++: no GPU is asked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/convolve/contender.hpp"
#include "common/convolve/implicit_gemm/division.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/harness/traffic/cost.hpp"

namespace halo::convolve {

/// What a plan is chosen from: a few tiles, each with splits of 1, 2, 4, 8 and 16. Every one of them is right for every
/// layer. Each is a contender, gemm_32_4_8: 32 filters, 4 warps, 8 blocks (name_of).
const std::vector<GemmPlan>& all_gemm_plans();
std::string name_of(const GemmPlan& plan);

/// Why the kernel does not take the layer with this plan, as the end of a sentence; empty: it does.
std::string refuses(const conv::ConvLayer& layer, const GemmPlan& plan, const gpus::GpuLimits& gpu);

/// Those that read filters of 1 x 1 as they are: fewer tiles.
const std::vector<GemmPlan>& unpacked_gemm_plans();

/// The plan to take where nothing was measured: of those that fit the GPU, that of the shortest estimate. None: no
/// block fits.
std::optional<GemmPlan> plan_gemm(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);
std::optional<GemmPlan> plan_unpacked_gemm(const conv::ConvLayer& layer,
                                           const gpus::GpuLimits& gpu);

/// The estimate, in cycles of an H200, to which its coefficients were fitted: what the fullest multiprocessor loads,
/// multiplies or waits for, whichever takes longest, and what warps and blocks take to meet.
double estimated_cycles(const conv::ConvLayer& layer, const GemmPlan& plan, int multiprocessors);

/// How much work a GPU has with it; steps are quads of the reduction.
LaunchWork work_of(const conv::ConvLayer& layer, const GemmPlan& plan);

/// What the kernel must cost with the plan, and what a bias costs more.
Cost gemm_cost(const conv::ConvLayer& layer, const GemmPlan& plan);
Cost gemm_bias_cost(const conv::ConvLayer& layer, const GemmPlan& plan);

}  // namespace halo::convolve
