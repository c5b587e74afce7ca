// What a kernel costs otherwise than predicted, in words. A right kernel may: less or more, and which
// lines make it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/rows.hpp"

namespace halo {

/// One figure that differs from its prediction.
struct TrafficDifference {
  std::string what;       // "load sectors", "blocks", "operations in double precision"
  std::string name;       // as results name it: global_load_sectors; empty for a launch's
  std::string predicted;  // "16,405"
  std::string counted;
  std::string change;  // "2 % less"; empty where nothing was predicted
  // The lines that make what was counted, the largest part first. If it is one, the prediction is
  // that line's as well.
  struct Part {
    std::string file;
    int line = 0;
    std::string counted;
  };
  std::vector<Part> lines;
};

/// All that differ, in the order of the counters, then of the launches. Empty if nothing does, or nothing
/// was predicted.
std::vector<TrafficDifference> traffic_differences(const Row& row);

/// In one line: "9.12 bytes per output instead of 9.25, 1 % less; line 36: 16,405 -> 16,015 load
/// sectors". Empty if nothing differs.
std::string told_traffic(const Row& row);

/// "2 % less", "twice as many", "less than 1 % more".
std::string told_change(double predicted, double counted);

}  // namespace halo
