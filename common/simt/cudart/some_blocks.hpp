// Problems too large to be run as a whole (simt.hpp): some blocks of a launch, on memory that is not all there.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "common/simt/machine/grid.hpp"

namespace simt::cudart {

/// Of run_only_blocks: the clusters of a grid that are to run, by their numbers; none: all.
std::optional<std::vector<std::uint64_t>> chosen_clusters(const machine::Grid& grid);

/// Pages of memory that a launch of chosen blocks has written, by their numbers: address / kNotedPage.
inline constexpr std::uint64_t kNotedPage = 4096;
void note_written(const std::set<std::uint64_t>& pages);

}  // namespace simt::cudart
