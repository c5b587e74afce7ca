// Cases of an exercise that students do not have: an assignment's file lists them, and the exercise's check
// judges them behind its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/json/json.hpp"

namespace halo {

/// Problems that come out right together, or not; or on which the exercise's budgets are met.
struct HiddenCase {
  std::string name;  // the kind of shape, which is all that a student is told: "masks of one tap"
  double points = 0;
  /// Each the numbers of a problem in the order of the exercise's contract.
  std::vector<std::vector<long long>> problems;
  int drawn = 0;  // and so many more, from the seed
  bool is_budget = false;
};

/// Of one exercise: an array of {"name", "points", "problems", "draw", "budget"}. Throws std::runtime_error, one line.
std::vector<HiddenCase> hidden_cases_from(const json::Value& cases);

/// Those of this exercise in an assignment's file: the "hidden" of its entry in "exercises". Throws
/// std::runtime_error, one line that names the file.
std::vector<HiddenCase> read_hidden_cases(const std::filesystem::path& file,
                                          const std::string& exercise);

}  // namespace halo
