// How the student stands, over all exercises.
#pragma once

#include <map>
#include <string>

#include "common/exercise/exercises.hpp"
#include "common/exercise/progress_file.hpp"
#include "common/report/table.hpp"

namespace halo {

/// "[#####---------]  5 of 14 passed, 188 of 520 points".
std::string progress_bar(const Exercises& exercises,
                         const std::map<std::string, ExerciseRecord>& records);

/// The bar, a line for each exercise, hints and predictions in all, and what is next.
std::string standing_text(const Exercises& exercises,
                          const std::map<std::string, ExerciseRecord>& records,
                          const TableOptions& options);

/// "passed 2026-11-22", "42 of 100, 3 attempts", "not yet".
std::string standing_of(const ExerciseRecord& record);

}  // namespace halo
