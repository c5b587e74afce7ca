// --measure: the micro-benchmarks on the present GPU, and the planner's figures as they come out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/gpus/gpu_figures.hpp"
#include "common/harness/backend/backend.hpp"

namespace halo::single_channel_adaptive::measure {

/// Whether --measure is among the arguments.
bool asked_for(int argc, const char* const* argv);

/// The main function of that. Checks the kernels, measures where there is a GPU, prints, writes
/// JSON (--json FILE). Returns the exit status: 0 good, 1 a check failed, 2 wrong use, 77 not run.
int run(int argc, const char* const* argv, std::unique_ptr<Backend> backend);

/// What is wrong with the kernels' results or with their traffic, in one sentence each: nothing, if
/// all is well. Small arrays.
std::vector<std::string> check(Backend& backend, std::uint64_t seed);

/// The figures of a GPU from a file that --measure wrote. Throws std::invalid_argument, in one
/// line, if it can't be read or holds none.
gpus::GpuFigures figures_from_file(const std::string& path);

}  // namespace halo::single_channel_adaptive::measure
