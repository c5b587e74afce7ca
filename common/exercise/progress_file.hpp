// How far the student is: exercises/progress.json, which anybody may read and nobody need write.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/exercise/exercises.hpp"

namespace halo {

/// A prediction as it was first said.
struct FirstSaid {
  double said = 0;
  bool right = false;
};

/// What is known of one exercise. Dates are of ISO 8601, UTC; empty: it has not happened.
struct ExerciseRecord {
  int attempts = 0;
  double best = 0;  // points of the best attempt
  double most = 0;  // that it can have; 0: it was never judged
  std::string passed;
  std::uint64_t seed = 0;  // of the inputs with which it was wrong last; 0: it is not
  int hints = 0;           // seen
  int questions = 0;       // that are asked before the first run
  std::vector<std::pair<std::string, FirstSaid>> predictions;  // by key
  int claims = 0;                                              // of a hunt
  std::string found;                                           // mended and rightly claimed
  std::string asked_for_solution;                              // before it was passed
  std::string shown_solution;                                  // before it was passed

  const FirstSaid* said(const std::string& key) const;
};

class ProgressFile {
 public:
  explicit ProgressFile(const std::filesystem::path& exercises);

  const std::filesystem::path& path() const { return path_; }

  /// Of each exercise that something is known of; nothing if there is no file. Throws WrongUse, one
  /// line that names the file and says what to do, if it is none of ours or cannot be read.
  std::map<std::string, ExerciseRecord> read() const;
  ExerciseRecord read(const std::string& exercise) const;

  /// Changes what is known of the exercise, with the file locked against another `halo`; the file is
  /// whole at any time, and what is not ours in it stays. Returns why it could not be saved, in one
  /// line; empty: it was.
  std::string change(const std::string& exercise,
                     const std::function<void(ExerciseRecord&)>& change) const;

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

/// Now, as the file has it.
std::string date_now();

/// The first exercise that is not passed; nullptr if all are.
const Exercise* first_not_passed(const Exercises& exercises,
                                 const std::map<std::string, ExerciseRecord>& records);

/// The first behind this one that is not passed, or the first of all but this one; nullptr if there is none.
const Exercise* next_not_passed(const Exercises& exercises,
                                const std::map<std::string, ExerciseRecord>& records,
                                const Exercise& behind);

}  // namespace halo
