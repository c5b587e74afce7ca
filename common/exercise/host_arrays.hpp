// Arrays in host memory for a function that is counted (counted.h), with room between them where accesses that
// miss them are seen.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "common/harness/traffic/cost.hpp"
#include "common/report/rows.hpp"

namespace halo::exercises {

class HostArrays {
 public:
  HostArrays() = default;
  HostArrays(const HostArrays&) = delete;
  HostArrays& operator=(const HostArrays&) = delete;

  /// An array of these cells, in memory that is a NaN on both sides. All of them stay where they are.
  std::span<float> add(std::span<const float> cells, const std::string& name);

  /// From now until finish() the calling thread's Counted are counted, and only they see what cells hold: the arrays
  /// themselves are NaN. One HostArrays at a time.
  void start();
  /// What was counted, and an out_of_bounds for each array that was missed.
  HostCounts finish(std::vector<Hazard>& hazards);

 private:
  friend struct Counting;
  struct Array {
    std::string name;
    std::vector<float> memory;
    std::span<float> cells;
    std::vector<float> held = {};  // of `memory`, while it is counted
    Hazard missed = {};            // count 0: it was not
  };
  std::deque<Array> arrays_;
};

}  // namespace halo::exercises
