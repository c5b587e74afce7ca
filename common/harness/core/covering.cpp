#include "common/harness/core/covering.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace halo {

namespace {

// A level: its axis and number.
using Level = std::pair<std::size_t, int>;

class Search {
 public:
  Search(std::span<const int> counts, const std::function<bool(const Levels&)>& is_possible)
      : counts_(counts), is_possible_(is_possible) {
    for (std::size_t a = 0; a < counts.size(); ++a) {
      for (std::size_t b = a + 1; b < counts.size(); ++b) {
        for (int i = 0; i < counts[a]; ++i) {
          for (int j = 0; j < counts[b]; ++j) missing_.insert({{a, i}, {b, j}});
        }
      }
    }
  }

  std::vector<Levels> combinations() {
    std::vector<Levels> all;
    while (!missing_.empty()) {
      const auto pair = *missing_.begin();
      missing_.erase(missing_.begin());  // once is enough, also where there is none
      std::optional<Levels> with = plainest_with(pair.first, pair.second);
      if (!with) continue;
      for (std::size_t axis = 0; axis < counts_.size(); ++axis) {
        if (axis != pair.first.first && axis != pair.second.first) improve(axis, *with);
      }
      for_each_pair(*with, [&](const auto& met) { missing_.erase(met); });
      all.push_back(*with);
    }
    return all;
  }

 private:
  // All plain but these two, or but one more.
  std::optional<Levels> plainest_with(const Level& one, const Level& other) const {
    Levels levels(counts_.size(), 0);
    levels[one.first] = one.second;
    levels[other.first] = other.second;
    if (is_possible_(levels)) return levels;
    for (std::size_t axis = 0; axis < counts_.size(); ++axis) {
      if (axis == one.first || axis == other.first) continue;
      for (int level = 1; level < counts_[axis]; ++level) {
        levels[axis] = level;
        if (is_possible_(levels)) return levels;
      }
      levels[axis] = 0;
    }
    return {};
  }

  // Gives the axis the level with which most is met that was missing.
  void improve(std::size_t axis, Levels& levels) const {
    std::vector<std::pair<std::size_t, int>> by_gain;  // least last
    for (int level = 0; level < counts_[axis]; ++level) {
      Levels with = levels;
      with[axis] = level;
      std::size_t gain = 0;
      for_each_pair(with, [&](const auto& met) { gain += missing_.count(met); });
      by_gain.push_back({gain, level});
    }
    std::stable_sort(by_gain.begin(), by_gain.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [gain, level] : by_gain) {
      Levels with = levels;
      with[axis] = level;
      if (level != levels[axis] && !is_possible_(with)) continue;
      levels = with;
      return;
    }
  }

  template <class Visit>
  static void for_each_pair(const Levels& levels, Visit visit) {
    for (std::size_t a = 0; a < levels.size(); ++a) {
      for (std::size_t b = a + 1; b < levels.size(); ++b) {
        visit(std::pair(Level(a, levels[a]), Level(b, levels[b])));
      }
    }
  }

  std::span<const int> counts_;
  const std::function<bool(const Levels&)>& is_possible_;
  std::set<std::pair<Level, Level>> missing_;
};

}  // namespace

std::vector<Levels> covering_combinations(std::span<const int> counts,
                                          const std::function<bool(const Levels&)>& is_possible) {
  return Search(counts, is_possible).combinations();
}

}  // namespace halo
