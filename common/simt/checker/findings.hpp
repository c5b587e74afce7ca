// What was wrong in a launch, once for each kind and pair of places.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simt/checker/hazards.hpp"

namespace simt::checker {

inline constexpr unsigned kNoThread = UINT32_MAX;

/// Who did something: a thread of a block, both counted through, kNoThread: one that is not known.
struct Party {
  std::uint64_t block = UINT64_MAX;
  unsigned thread = kNoThread;
  auto operator<=>(const Party&) const = default;
};

struct Finding {
  Hazard hazard = Hazard::race;
  std::int32_t site = -1;
  std::int32_t other_site =
      -1;             // of the second party; -1: there is none, or its place is not known
  std::string array;  // the memory's name; empty if it has none
  std::string what;   // "writes data, which"
  // Of the first occurrence in the order of the grid:
  Party party;
  Party other;
  std::uint64_t address = 0;
  std::string detail;  // "is read, without a barrier between, by"
  std::uint64_t count = 0;
  Remedy remedy = Remedy::none;  // of all occurrences the greatest
  Outside outside;               // of all occurrences, if it is out of bounds
  std::string maker;             // where that array got its size, as advice() has it

  bool has_other() const { return other.block != UINT64_MAX; }
  bool is_between_blocks() const { return has_other() && other.block != party.block; }
};

struct Line {
  std::string file;
  int number = 0;  // 0: not known
  auto operator<=>(const Line&) const = default;
};
using LineOf = std::function<Line(std::int32_t site)>;
/// Joins findings of the same kind at the same places.
class Findings {
 public:
  void add(Finding finding);
  /// In the order of sites; those of the same lines are one. A note that a value
  /// is stored twice is left out where the store races anyway.
  std::vector<Finding> all(const LineOf& line_of) const;
  bool empty() const { return found_.empty(); }
  void clear() { found_.clear(); }
  /// From now on each that is new is told when it is added; or none.
  void tell(std::function<void(const Finding&)> to) { tell_ = std::move(to); }

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, Hazard, std::string, std::string>;
  std::map<Key, Finding> found_;
  std::function<void(const Finding&)> tell_;
};

using Shape = std::array<unsigned, 3>;

/// One sentence that names the parties, and advice. `grid` and `block` are the launch's.
std::string message(const Finding& finding, const Shape& grid, const Shape& block,
                    const LineOf& line_of);

}  // namespace simt::checker
