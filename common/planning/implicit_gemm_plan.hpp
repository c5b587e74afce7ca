// How stage 09's implicit matrix product is divided: tiles of outputs over blocks, and the reduction over the warps of a
// block and the blocks of a cluster. Host arithmetic only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/gpus/gpu_figures.hpp"
#include "common/planning/contender.hpp"
#include "common/planning/implicit_gemm.hpp"

namespace halo::cuconv_two_stage {

/// What a plan is chosen from: a few tiles, each with splits of 1, 2, 4, 8 and 16. Every one of them is right for every
/// layer. Each is a contender, gemm_32_4_8: 32 filters, 4 warps, 8 blocks (name_of).
const std::vector<GemmPlan>& all_gemm_plans();
std::string name_of(const GemmPlan& plan);

/// Why the kernel does not take the layer with this plan, as the end of a sentence; empty: it does.
std::string refuses(const conv::ConvLayer& layer, const GemmPlan& plan, const gpus::GpuLimits& gpu);

/// The plan to take where nothing was measured: of those that fit the GPU, that of the shortest estimate. None: no
/// block fits.
std::optional<GemmPlan> plan_gemm(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu);

/// The estimate, in cycles of an H200, to which its coefficients were fitted: what the fullest multiprocessor loads,
/// multiplies or waits for, whichever takes longest, and what warps and blocks take to meet.
double estimated_cycles(const conv::ConvLayer& layer, const GemmPlan& plan, int multiprocessors);

/// A contender for each plan.
std::vector<planning::Contender> gemm_contenders();

}  // namespace halo::cuconv_two_stage
