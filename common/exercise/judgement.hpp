// An attempt as `halo try` and `halo watch` show it, and what is noted of it.
#pragma once

#include <string>

#include "common/exercise/attempt.hpp"
#include "common/exercise/progress_file.hpp"
#include "common/report/table.hpp"

namespace halo {

struct JudgementOptions {
  AttemptOptions attempt;
  TableOptions table;
  int lines = 22;        // of the screen; 0: as many as it takes
  bool watches = false;  // what is saved next is judged without being asked for
};

struct Judgement {
  int status = 0;          // 0 nothing is wrong, 1 something is, 2 it was not run
  bool passed = false;     // all cases are good: on a GPU some are not judged
  bool overtaken = false;  // and nothing else is known
  std::string screen;      // the marks, or what the compiler says
};

/// One attempt, judged and noted in the student's progress. Throws as attempt_exercise.
Judgement judge_exercise(const BuildFolder& build, const Exercises& exercises,
                         const Exercise& exercise, const ProgressFile& progress,
                         const JudgementOptions& options);

/// Asks at the terminal what predictions.txt asks and nobody has answered, if nothing has been tried yet; each
/// answer is written into the file at once. Nothing off a terminal.
void ask_predictions(const Exercise& exercise, const ExerciseRecord& record);

/// "predictions.txt" of the exercise as it stands; a file that is not there asks nothing. Throws WrongUse.
std::string predictions_text_of(const Exercise& exercise);

}  // namespace halo
