// What a student may ask for beside a verdict: a hint, the solution, the beginning again. `halo watch` has a
// key for each of the commands.
#pragma once

#include <functional>
#include <string>

#include "common/exercise/exercises.hpp"
#include "common/exercise/progress_file.hpp"

namespace halo {

/// What there is to show. What counts as given does once it was shown: then `note` is called, unless it is empty, and says
/// what is to be said behind the text, why it could not be noted.
struct Help {
  bool given = true;
  std::string text;  // ends with a line's end
  std::function<std::string()> note = {};
};

/// The next hint, which then counts as seen; after the last one the last. `all`: those seen so far. Throws
/// WrongUse if there are none. `width` of the terminal, in letters; 0: without end.
Help hint_for(const Exercise& exercise, const ProgressFile& progress, bool all, int width);

/// The solution, or how the student's file differs from it (`beside`), once the exercise is passed. Before
/// that it is not given at the first time of asking; from the second time on it is, which is noted. Throws
/// CannotRun if this copy of the course has no solution.
Help solution_for(const Exercise& exercise, const ProgressFile& progress, bool beside);

/// The file with which the exercise began, in the place of the student's, which is kept beside it under a
/// new name. Throws data::NotWritten; then nothing has changed.
Help begin_again(const Exercise& exercise);

}  // namespace halo
