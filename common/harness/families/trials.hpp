// What the families share when they choose the problems that a variant is tried with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/harness/core/typed.hpp"

namespace halo {

// Random numbers of trials.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed ^ 0x9e3779b97f4a7c15u) {}
  int from(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }

 private:
  conv::Random random_;
};

// Those of the problems that the variant takes.
template <class Given>
std::vector<Trial<Given>> taken(const Variant<Given>& variant, const std::vector<Given>& problems) {
  std::vector<Trial<Given>> trials;
  for (const Given& problem : problems) {
    if (refusal(variant, problem).empty()) trials.push_back(problem);
  }
  return trials;
}

// Adds the problem if the variant takes it and is not tried with it already.
template <class Given>
void add_trial(const Variant<Given>& variant, const Given& problem,
               std::vector<Trial<Given>>& trials) {
  const auto known = [&](const Trial<Given>& trial) { return trial.problem == problem; };
  if (!refusal(variant, problem).empty() || std::any_of(trials.begin(), trials.end(), known))
    return;
  trials.push_back(problem);
}

// Adds those of these problems near 2^31 cells that the variant takes; or one, so that its refusal is told.
template <class Given>
void add_large(const Variant<Given>& variant, const std::vector<Given>& problems,
               std::vector<Trial<Given>>& trials) {
  const std::size_t before = trials.size();
  for (const Given& problem : problems) {
    if (refusal(variant, problem).empty()) trials.push_back({problem, TrialOn::some_blocks});
  }
  if (trials.size() == before) trials.push_back({problems.front(), TrialOn::some_blocks});
}

// The sizes of one letter that are tried for kernels with these tiles: the plain ones; in their order, of each tile one
// less, as many and one more; and, where a much smaller tile is a part of it (vectors of 4 in a row of 64), a part
// less and a part more.
inline std::vector<int> sizes_round(const std::vector<TileSizes>& tiles, int TileSizes::*letter,
                                    const std::vector<int>& plain) {
  std::set<int> round;
  for (const TileSizes& tile : tiles) {
    const int size = tile.*letter;
    if (size == 0) continue;
    round.insert({std::max(size - 1, 1), size, size + 1});
    for (const TileSizes& other : tiles) {
      const int part = other.*letter;
      if (part > 0 && 8 * part <= size && size % part == 0)
        round.insert({size - part, size + part});
    }
  }
  std::vector<int> sizes = plain;
  std::copy_if(round.begin(), round.end(), std::back_inserter(sizes), [&](int size) {
    return std::find(plain.begin(), plain.end(), size) == plain.end();
  });
  return sizes;
}

}  // namespace halo
