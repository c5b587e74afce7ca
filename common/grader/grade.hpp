// What a submission is worth: the one model of a result, written by the trusted side only. Whatever format a
// course wants is made from it (formats.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/exercise/marks.hpp"
#include "common/json/json.hpp"

namespace halo::grader {

/// One case of one exercise.
struct GradedCase {
  enum class Kind { correctness, safety, budget };
  std::string name;
  Kind kind = Kind::correctness;
  bool hidden = false;  // a case that students do not have; its message names no input
  double points = 0;    // earned
  double most = 0;
  Outcome outcome = Outcome::not_run;
  std::string message;  // one line; empty where it is good
  double seconds = 0;
};
const char* to_string(GradedCase::Kind kind);

/// One exercise of a submission.
struct ExerciseGrade {
  std::string name;   // 04_tile_and_halo
  std::string title;  // Tile and halo, the ends repeated
  std::string
      refusal;  // why nothing was judged, one line: not handed in, does not compile, ...; else empty
  std::vector<GradedCase> cases;     // all of them, also where nothing was judged
  std::vector<std::string> remarks;  // for the instructor's eyes, a line each
  std::string
      time;  // on a GPU, beside the course's kernel, or why there is none; empty: nobody asked. It has no points

  double points() const;
  double most() const;
};

/// A submission.
struct Grade {
  std::string student;  // whose it is, as the submission is called
  std::vector<ExerciseGrade> exercises;
  std::string error;    // why it was not graded at all; empty: it was
  std::string sandbox;  // the level that was active: namespaces, confined, limits
  std::uint64_t seed = 0;
  std::string version;  // of Halo
  double seconds = 0;

  double points() const;
  double most() const;
};

json::Value to_json(const Grade& grade);
/// Throws json::Error, one line.
Grade grade_from_json(const json::Value& json);

/// How much of it a student is told.
enum class Feedback {
  full,   // messages as `halo try` has them, but for hidden cases
  kind,   // which cases failed, not how
  score,  // points only
};
/// "full", "kind" or "score". Throws std::runtime_error, one line, for another word.
Feedback parse_feedback(const std::string& word);
/// The same grade without what a student is not told: remarks never.
Grade for_student(Grade grade, Feedback feedback);

}  // namespace halo::grader
