// What the families share when they choose the problems that a variant is tried with.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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

inline constexpr std::array<int TileSizes::*, 6> kLettersOfTile = {
    &TileSizes::P, &TileSizes::Q, &TileSizes::K, &TileSizes::N, &TileSizes::C, &TileSizes::cells};

// Sizes to try for kernels with these tiles, in the letters that they name; the others stay 0. Few, so
// each letter is at another place of the same problem: for each tile one less, as many and one more of
// each letter, and several tiles of all; where there are several tiles, one letter of one with the
// others of another. What there can't be is 1.
inline std::vector<TileSizes> sizes_round(const std::vector<TileSizes>& tiles) {
  std::vector<TileSizes> sizes;
  const auto add = [&](auto size_of) {
    TileSizes size;
    int letters = 0;  // so far
    for (const auto letter : kLettersOfTile) {
      const int wanted = size_of(letter, letters);
      if (wanted == 0) continue;
      ++letters;
      size.*letter = std::max(wanted, 1);
    }
    sizes.push_back(size);
  };
  constexpr int kNone = 0, kLess = -1;  // size_of says 0 of letters that are not named
  for (const TileSizes& tile : tiles) {
    for (int turn = 0; turn < 3; ++turn) {
      add([&](auto letter, int letters) {
        const int size = tile.*letter;
        if (size == 0) return kNone;
        const int wanted = size + (turn + letters) % 3 - 1;
        return wanted == 0 ? kLess : wanted;
      });
    }
    for (int turn = 0; turn < 2; ++turn) {
      add([&](auto letter, int letters) {
        const int size = tile.*letter;
        return size == 0 ? kNone : (turn + letters) % 2 == 0 ? 2 * size + 1 : size + 1;
      });
    }
  }
  for (const TileSizes& one : tiles) {
    for (const TileSizes& other : tiles) {
      if (&one == &other) continue;
      add([&](auto letter, int letters) {
        const int size = letters == 0 ? one.*letter : other.*letter;
        return size == 0 ? kNone : letters == 0 ? size + 1 : size - 1;
      });
    }
  }
  return sizes;
}

}  // namespace halo
