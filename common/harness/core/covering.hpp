// Few combinations of the classes that problems fall into.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace halo {

/// The level of each axis.
using Levels = std::vector<int>;

/// Combinations of levels, those of axis a being 0 ... counts[a] - 1, in which any two levels of different
/// axes meet at least once: a covering array of strength 2. `is_possible` says which combinations there
/// are; two levels that it allows in none that this looks at are left out. Level 0 of an axis is its plain one,
/// which the search falls back to. No chance: the same question has the same answer.
std::vector<Levels> covering_combinations(std::span<const int> counts,
                                          const std::function<bool(const Levels&)>& is_possible);

}  // namespace halo
