// An assignment: which exercises and hunts are to be handed in, with which hidden cases, and what students are told. The
// file is the instructor's; students never have it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/exercise/hidden_cases.hpp"
#include "common/grader/grade.hpp"

namespace halo::grader {

/// What an exercise may take. 0: as much as the grader gives by itself.
struct AssignmentLimits {
  int seconds = 0;  // of its program, in all cases together
  int memory = 0;   // MiB
  int threads = 0;  // at once
};

struct Assignment {
  struct Exercise {
    std::string name;  // 04_tile_and_halo
    std::vector<HiddenCase> hidden;
  };
  struct Hunt {
    std::string name;  // 07_softmax
    double points = 0;
  };

  std::filesystem::path
      file;  // as it was asked for: the check of an exercise reads its hidden cases there
  std::string title;
  std::uint64_t seed = 0;  // of the checks' data; 0: none is given
  std::vector<Exercise> exercises;
  std::vector<Hunt> hunts;
  Feedback feedback = Feedback::full;
  AssignmentLimits limits;

  /// Null if it is not handed in.
  const Exercise* find(const std::string& name) const;
};

/// Throws std::runtime_error: one line that names the file and the fault.
Assignment read_assignment(const std::filesystem::path& file);

}  // namespace halo::grader
