// What a student's kernel moves as a GPU counts it, beside what the simulator says.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/build/build_folder.hpp"
#include "common/exercise/exercises.hpp"
#include "common/report/table.hpp"

namespace halo {

/// A table of the counters of one problem, which the check chooses: Nsight Compute's on this GPU, and the simulator's. Where
/// one of them cannot be had, one line says why. After prepare_exercise for the GPU.
std::string counters_beside(const BuildFolder& build, const Exercise& exercise,
                            const std::string& seed, const TableOptions& options);

/// What Nsight Compute's CSV has of all launches together, by the simulator's names. Throws std::runtime_error, one line,
/// where it is none, or says why it counted nothing.
std::vector<std::pair<std::string, double>> counters_of_ncu(const std::string& text);

}  // namespace halo
