// `halo grade`: what a submission is worth.
#include "common/grader/grade.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/exercises.hpp"
#include "common/grader/assignment.hpp"
#include "common/grader/class.hpp"
#include "common/grader/formats.hpp"
#include "common/grader/pack.hpp"
#include "common/grader/submission.hpp"
#include "common/grader/tripwires.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
using grader::Assignment;
using grader::ExerciseGrade;
using grader::Grade;
using grader::GradedCase;

GradedCase::Kind kind_of(Category category) {
  switch (category) {
    case Category::safety:
      return GradedCase::Kind::safety;
    case Category::budget:
      return GradedCase::Kind::budget;
    default:
      return GradedCase::Kind::correctness;
  }
}

std::vector<GradedCase> graded_cases(const Marks& marks) {
  std::vector<GradedCase> cases;
  for (const CaseMark& mark : marks.cases) {
    cases.push_back({mark.name, kind_of(mark.category), mark.hidden, mark.points, mark.most,
                     mark.outcome, mark.message, mark.seconds});
  }
  return cases;
}

// Where nobody says which: a grade is to be the same on the second run.
constexpr std::uint64_t kUsualSeed = 2024;

// What is the same for all exercises of a submission.
struct Grading {
  const BuildFolder& build;
  AttemptOptions attempt;
};

// What was handed in of one exercise, in a folder where nothing else is the student's.
ExerciseGrade grade_exercise(const Grading& grading, const Exercise& exercise,
                             const grader::HandedIn* handed_in) {
  ExerciseGrade grade;
  grade.name = exercise.name;
  grade.title = exercise.title;
  const auto refuse = [&](const std::string& why) {
    grade.refusal = why;
    grade.cases = graded_cases(describe_exercise(grading.build, exercise, grading.attempt));
    for (GradedCase& one : grade.cases) {
      one.outcome = Outcome::not_run;
      one.message.clear();
    }
    return grade;
  };
  if (handed_in == nullptr) return refuse(grader::kNotHandedIn);
  if (handed_in->source.empty()) return refuse(handed_in->refusal);
  Exercise submitted = exercise;
  submitted.sources = {handed_in->source};
  try {
    const Attempt attempt = attempt_exercise(grading.build, submitted, grading.attempt);
    grade.remarks = attempt.remarks;
    if (attempt.end == Attempt::End::not_compiled) {
      return refuse("does not compile: " + attempt.mistake);
    }
    if (attempt.end == Attempt::End::refused) return refuse("not run: " + attempt.mistake);
    grade.cases = graded_cases(attempt.marks);
  } catch (const NotJudgeable& error) {
    return refuse(error.what());
  }
  return grade;
}

Assignment assignment_of(const GradeOptions& options, const Exercises& exercises) {
  const fs::path file =
      options.assignment.empty() ? exercises.usual_assignment() : fs::path(options.assignment);
  if (!file.empty()) {
    try {
      return grader::read_assignment(file);
    } catch (const std::runtime_error& error) {
      throw WrongUse(error.what());
    }
  }
  Assignment all;  // a copy of the course without hidden cases
  for (const Exercise& exercise : exercises.all()) all.exercises.push_back({exercise.name, {}});
  return all;
}

// All of a submission: its exercises, or why there are none. Throws as attempt_exercise.
void grade_submission(const BuildFolder& build, const GradeOptions& options,
                      const Exercises& exercises, const Assignment& assignment, Grade& grade) {
  const data::TemporaryFolder folder("halo-grade");
  std::vector<grader::Wanted> wanted;
  for (const Assignment::Exercise& one : assignment.exercises) {
    wanted.push_back({one.name, exercises.find(one.name).file_name()});
  }
  std::vector<grader::HandedIn> handed_in;
  try {
    handed_in = grader::take_submission(options.submission, wanted, folder.path());
    if (handed_in.empty()) grade.error = "no file of an exercise was handed in";
  } catch (const grader::Refused& refused) {
    grade.error = refused.what();
  }

  Grading grading{build, {}};
  grading.attempt.backend = choose_exercise_backend(build, "sim");
  grade.seed = options.seed.value_or(assignment.seed != 0 ? assignment.seed : kUsualSeed);
  if (options.own_inputs) grade.seed = grader::seed_of_student(grade.seed, grade.student);
  grading.attempt.seed = std::to_string(grade.seed);
  if (assignment.limits.seconds > 0) {
    grading.attempt.limits.processor = assignment.limits.seconds;
  }
  if (assignment.limits.memory > 0) {
    grading.attempt.limits.memory = std::uint64_t{1} << 20;
    grading.attempt.limits.memory *= static_cast<std::uint64_t>(assignment.limits.memory);
  }
  if (assignment.limits.threads > 0) {
    grading.attempt.limits.processes = assignment.limits.threads;
  }
  const Sandbox sandbox = open_sandbox(build, options.sandbox, options.require_sandbox);
  grading.attempt.sandbox = &sandbox;
  grading.attempt.look_at = grader::look_at;
  grade.sandbox = to_string(sandbox.level());
  // One file is graded as one, unless somebody says that it is all of an assignment.
  const bool counts_all = !options.assignment.empty() || !options.exercise.empty();
  const auto handed_in_of = [&](const std::string& name) -> const grader::HandedIn* {
    const auto found = std::find_if(handed_in.begin(), handed_in.end(),
                                    [&](const auto& there) { return there.exercise == name; });
    return found == handed_in.end() ? nullptr : &*found;
  };
  Progress progress;
  for (const bool is_rehearsed : {true, false}) {
    for (const Assignment::Exercise& one : assignment.exercises) {
      const Exercise& exercise = exercises.find(one.name);
      const grader::HandedIn* const there = handed_in_of(one.name);
      if (there == nullptr && !counts_all) continue;
      grading.attempt.hidden = one.hidden.empty() ? fs::path() : assignment.file;
      if (is_rehearsed) {
        // What is wrong with the assignment is said before anything is graded.
        prepare_exercise(build, exercise, grading.attempt.backend);
        if (!one.hidden.empty()) describe_exercise(build, exercise, grading.attempt);
        continue;
      }
      progress.show("grading " + exercise.name);
      grade.exercises.push_back(grade_exercise(grading, exercise, there));
    }
  }
  progress.clear();
}

}  // namespace

int run_grade(const BuildFolder& build, const GradeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (!fs::exists(options.submission)) {
    throw WrongUse("there is no " + data::quoted(options.submission) +
                   ": name the file, folder or archive that was handed in");
  }
  const Exercises exercises(build.source());
  Assignment assignment = assignment_of(options, exercises);
  if (!options.exercise.empty()) {
    const std::string name = exercises.find(options.exercise).name;
    const Assignment::Exercise* const only = assignment.find(name);
    assignment.exercises = {only == nullptr ? Assignment::Exercise{name, {}} : *only};
  }

  Grade grade;
  grade.student =
      options.student.empty() ? grader::submission_name(options.submission) : options.student;
  grade.version = HALO_VERSION;
  const grader::Feedback feedback =
      options.feedback.empty() ? assignment.feedback : grader::parse_feedback(options.feedback);
  const grader::ResultFormat format = grader::parse_result_format(options.format);
  const auto tell = [&] {
    // JSON is the instructor's; what a platform shows to students is for them.
    const bool whole = format == grader::ResultFormat::json || format == grader::ResultFormat::text;
    const Grade told =
        whole && options.feedback.empty() ? grade : grader::for_student(grade, feedback);
    grader::FormatOptions how;
    how.table = table_options(options.color, stdout);
    if (!options.output.empty()) how.table.color = false;
    const std::string text = grader::text_of(told, format, how);
    if (options.output.empty()) {
      std::fputs(text.c_str(), stdout);
    } else {
      data::write_file(options.output, text);
    }
  };
  // Where the grader's own machine is at fault nothing has a grade, nor what was judged before: it is graded again.
  const auto no_grade = [&](const std::string& why) {
    grade.exercises.clear();
    grade.error = std::string(grader::kNotFinished) + ": " + why;
    if (!options.output.empty() || format != grader::ResultFormat::text) tell();
    return MachineFault(why);
  };
  // Whatever happens from here on, there is a result, and it is no pass.
  if (!options.output.empty()) {
    grade.error = grader::kNotFinished;
    tell();
    grade.error.clear();
  }

  try {
    grade_submission(build, options, exercises, assignment, grade);
  } catch (const NoVerdict& error) {
    throw no_grade(error.what());
  } catch (const data::NotWritten& error) {
    throw no_grade(error.what());
  } catch (const std::system_error& error) {
    throw no_grade(error.what());
  }
  grade.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tell();
  const int status = grader::exit_code(grade, format);
  if (status == grader::kNotGraded && format != grader::ResultFormat::text) {
    std::fprintf(stderr, "halo: not graded: %s\n", data::printable(grade.error, 300).c_str());
  }
  return status;
}

}  // namespace halo
