// The stages of the course, from stages/course.csv.
#pragma once

#include <string>
#include <vector>

namespace halo {

struct CourseStage {
  std::string name;    // 04_conv1d_tiled_halo
  std::string family;  // of problems: conv1d, conv2d, ...
  std::vector<std::string>
      bench_sets;  // those that compare it with others: names of bench_sets.hpp
};

// In the order of the course.
const std::vector<CourseStage>& course();

// Which stages each family has, for people, a line each: "  conv1d: 01 to 05".
std::string stages_by_family();

}  // namespace halo
