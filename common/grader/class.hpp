// A whole class: who handed in what, a grader's process for each submission, and what became of them all. Results are files, one
// a student, so that a run may end anywhere and another go on, also beside it.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace halo::grader {

/// The error of a grade until there is one: a grader writes such a grade first. Any other error is the submission's own: it was
/// refused.
inline constexpr const char* kNotFinished = "the grader did not finish";

/// The refusal of an exercise of which there is nothing.
inline constexpr const char* kNotHandedIn = "not handed in";

struct ClassMember {
  std::string id;                    // the result is grades/ID.json
  std::string name;                  // as the roster has it; empty without one
  std::filesystem::path submission;  // empty: nothing was handed in
  std::string fault;                 // why it cannot be graded, one line; else empty
  /// Several files that lie loose are handed in together, as platforms without folders have them: the grader gets them in
  /// one. Empty: `submission` is all.
  std::vector<std::filesystem::path> loose = {};
  bool is_late = false;  // as Canvas says in a file's name
};

struct ClassList {
  std::vector<ClassMember> members;  // by their ids
  std::vector<std::string> remarks;  // for the instructor, a line each
  bool has_roster = false;
};

/// What lies in a folder, or is named in a list with a path a line (seen from the list's folder); each is called by its name
/// without the ending; a loose file of Moodle's or Canvas's by the student's name and number. A roster is a CSV with the columns id, name and, if need be, submission (the file's name; who
/// worked together have the same): any other submission belongs to whose id its name has as a word, else to whom it begins with, as Moodle ("Ada
/// Lovelace_123_...") and Canvas ("lovelaceada_123_...") name them; who handed in nothing stands in the list too. The
/// roster and what else is named `beside` may lie among the submissions, and is none. Throws data::DataError, one line.
ClassList list_class(const std::filesystem::path& submissions, const std::filesystem::path& roster,
                     std::vector<std::filesystem::path> beside = {});

/// What a run leaves in the folder of its results, and that folder.
std::vector<std::filesystem::path> results_in(const std::filesystem::path& results);

/// The ids in such a roster, in its order. Throws data::DataError, one line.
std::vector<std::string> ids_of_roster(const std::filesystem::path& roster);

struct ClassGrading {
  std::filesystem::path results;
  int jobs = 1;
  /// Of the submissions by their order: every `shards`th, from this one on, counted from 1.
  int shard = 1;
  int shards = 1;
  /// A grader that takes longer is ended.
  std::chrono::seconds limit{14'400};
  /// What else a grade depends on: version, seed, assignment.
  std::string basis;
  /// Asked before the first submission is graded, if any is: throws where nothing can be graded here. May be empty.
  std::function<void()> rehearsal = {};
  /// The command that grades a submission, and writes its Grade (grade.hpp) to this file.
  std::function<std::vector<std::string>(const ClassMember& member,
                                         const std::filesystem::path& output)>
      grader;
};

struct ClassRound {
  std::size_t graded = 0;  // in this run
  std::size_t kept = 0;    // were graded before, and nothing has changed since
  std::size_t errors = 0;  // not graded, by the grader's fault
  int interrupted = 0;     // the signal that ended the run before its end
};

/// Grades whatever has no result yet, or one of something else. A grader that ends without a grade is started once more;
/// then the result says what happened, and the next run tries again. Throws data::NotWritten.
ClassRound grade_class(const ClassList& list, const ClassGrading& grading);

/// Writes class.csv and class.json of all results there are, and returns a summary that fits a screen. Throws
/// data::NotWritten.
std::string write_class(const ClassList& list, const std::filesystem::path& results);

/// A mistake without its figures, by which two that are alike are known: "output[N] is N".
std::string alike(const std::string& message);

}  // namespace halo::grader
