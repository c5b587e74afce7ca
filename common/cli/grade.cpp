// `halo grade`: what a submission is worth.
#include "common/grader/grade.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/exercises.hpp"
#include "common/exercise/hunts.hpp"
#include "common/exercise/marks_text.hpp"
#include "common/grader/assignment.hpp"
#include "common/grader/class.hpp"
#include "common/grader/formats.hpp"
#include "common/grader/pack.hpp"
#include "common/grader/submission.hpp"
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
  if (marks.withheld() > 0) {
    GradedCase one;
    one.name = why_withheld(marks);
    one.kind = GradedCase::Kind::budget;
    // How much it is says what hidden cases earned.
    one.hidden = std::any_of(marks.cases.begin(), marks.cases.end(),
                             [](const CaseMark& mark) { return mark.hidden; });
    one.points = -marks.withheld();
    one.outcome = Outcome::bad;
    cases.push_back(one);
  }
  return cases;
}

// Where nobody says which: a grade is to be the same on the second run.
constexpr std::uint64_t kUsualSeed = 2024;

// What is the same for all exercises of a submission.
struct Grading {
  const BuildFolder& build;
  AttemptOptions attempt;
  bool times = false;  // on a GPU too
};

// The marks of what was handed in of an exercise, in a folder where nothing else is the student's; without them `grade` says
// why there are none.
std::optional<Marks> marks_of(const Grading& grading, Exercise exercise,
                              const grader::HandedIn* handed_in, ExerciseGrade& grade) {
  grade.name = exercise.name;
  grade.title = exercise.title;
  if (handed_in == nullptr || handed_in->source.empty()) {
    grade.refusal = handed_in == nullptr ? grader::kNotHandedIn : handed_in->refusal;
    return {};
  }
  exercise.sources = {handed_in->source};
  try {
    Attempt attempt = attempt_exercise(grading.build, exercise, grading.attempt);
    grade.remarks = attempt.remarks;
    if (attempt.end == Attempt::End::not_compiled) {
      grade.refusal = "does not compile: " + attempt.mistake;
    } else if (attempt.end == Attempt::End::refused) {
      grade.refusal = "not run: " + attempt.mistake;
    } else {
      return std::move(attempt.marks);
    }
  } catch (const NotJudgeable& error) {
    grade.refusal = error.what();
  }
  return {};
}

// How long it takes on this machine's GPU, beside the course's kernel; or why that is not known.
std::string time_of(const Grading& grading, Exercise exercise, const grader::HandedIn& handed_in) {
  if (!exercise.has_solution()) return "not timed: this copy of the course has no solutions";
  exercise.sources = {handed_in.source};
  AttemptOptions timed = grading.attempt;
  timed.backend = "gpu";
  timed.hidden.clear();
  try {
    const Attempt attempt = attempt_exercise(grading.build, exercise, timed);
    if (!attempt.time.empty()) return attempt.time;
    for (const CaseMark& one : attempt.marks.cases) {
      if (one.outcome == Outcome::bad)
        return "not timed: on the GPU " + one.name + ": " + one.message;
    }
    return "not timed: this exercise has no kernel to be timed";
  } catch (const std::runtime_error& error) {
    return std::string("not timed: ") + error.what();
  }
}

ExerciseGrade grade_exercise(const Grading& grading, const Exercise& exercise,
                             const grader::HandedIn* handed_in) {
  ExerciseGrade grade;
  if (const auto marks = marks_of(grading, exercise, handed_in, grade)) {
    grade.cases = graded_cases(*marks);
    if (grading.times) {
      const bool is_right =
          std::all_of(marks->cases.begin(), marks->cases.end(), [](const CaseMark& one) {
            return one.category != Category::correctness || one.outcome == Outcome::good;
          });
      grade.time = is_right ? time_of(grading, exercise, *handed_in)
                            : "not timed: only what comes out right is";
    }
    return grade;
  }
  grade.cases = graded_cases(describe_exercise(grading.build, exercise, grading.attempt));
  for (GradedCase& one : grade.cases) {
    one.outcome = Outcome::not_run;
    one.message.clear();
  }
  return grade;
}

// The mended file and the claim, in one answer: a student is not told which of them is wrong.
ExerciseGrade grade_hunt(const Grading& grading, const Hunts& hunts, const Assignment::Hunt& asked,
                         const grader::HandedIn* handed_in) {
  const Hunt& hunt = hunts.find(asked.name);
  ExerciseGrade grade;
  GradedCase one;
  one.name = "fixed, and its line and kind claimed";
  one.most = asked.points;
  if (const auto marks = marks_of(grading, hunt.as_exercise(), handed_in, grade)) {
    const std::vector<Claim> claims = handed_in->beside.empty()
                                          ? std::vector<Claim>()
                                          : parse_claims(text_of_file(handed_in->beside));
    const bool found = marks->passed() && !claims.empty() && hunts.is_right(hunt, claims.back());
    one.outcome = found ? Outcome::good : Outcome::bad;
    one.points = found ? asked.points * share_of_hunt(claims.size()) : 0;
    one.message = found ? "" : "not yet";
    grade.remarks.push_back(std::string(marks->passed() ? "fixed" : "not fixed") + ", " +
                            std::to_string(claims.size()) + " claims" +
                            (claims.empty() ? "" : ", the last " + line_of(claims.back())));
  }
  grade.cases = {one};
  return grade;
}

// All of a submission: its exercises, or why there are none. Throws as attempt_exercise.
void grade_submission(const BuildFolder& build, const GradeOptions& options,
                      const Exercises& exercises, const Assignment& assignment, Grade& grade) {
  const data::TemporaryFolder folder("halo-grade");
  std::vector<grader::Wanted> wanted;
  for (const Assignment::Exercise& one : assignment.exercises) {
    wanted.push_back({one.name, exercises.find(one.name).file_name()});
  }
  std::optional<Hunts> hunts;
  if (!assignment.hunts.empty()) hunts.emplace(build.source());
  for (const Assignment::Hunt& one : assignment.hunts) {
    const Hunt& hunt = hunts->find(one.name);
    wanted.push_back({hunt.name, hunt.file.filename(), hunt.claims.filename()});
  }
  std::vector<grader::HandedIn> handed_in;
  try {
    handed_in = grader::take_submission(options.submission, wanted, folder.path());
    if (handed_in.empty()) grade.error = "no file of an exercise was handed in";
  } catch (const grader::Refused& refused) {
    grade.error = refused.what();
  }

  Grading grading{build, {}, options.time};
  if (options.time) {
    try {
      choose_exercise_backend(build, "gpu");
    } catch (const CannotRun& error) {
      throw CannotRun(std::string("--time: ") + error.what());
    }
  }
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
  grading.attempt.hidden.clear();
  for (const Assignment::Hunt& one : assignment.hunts) {
    const grader::HandedIn* const there = handed_in_of(hunts->find(one.name).name);
    if (there == nullptr && !counts_all) continue;
    const Exercise exercise = hunts->find(one.name).as_exercise();
    prepare_exercise(build, exercise, grading.attempt.backend);
    progress.show("grading " + exercise.name);
    grade.exercises.push_back(grade_hunt(grading, *hunts, one, there));
  }
  progress.clear();
}

// Checks look for their hidden cases by the whole name, and nothing is graded twice under two names.
void require_whole(const std::string& name, const std::string& whole) {
  if (name != whole) {
    throw std::runtime_error(data::quoted(name) + " is to be named in full, " +
                             data::quoted(whole));
  }
}

}  // namespace

Assignment assignment_of(const Exercises& exercises, const std::string& file,
                         const std::string& only) {
  const fs::path path = file.empty() ? exercises.usual_assignment() : fs::path(file);
  Assignment all;
  if (path.empty()) {  // a copy of the course without hidden cases
    for (const Exercise& exercise : exercises.all()) all.exercises.push_back({exercise.name, {}});
  } else {
    try {
      all = grader::read_assignment(path);
    } catch (const std::runtime_error& error) {
      throw WrongUse(error.what());
    }
    try {
      for (const Assignment::Exercise& one : all.exercises) {
        require_whole(one.name, exercises.find(one.name).name);
      }
      std::optional<Hunts> hunts;
      for (const Assignment::Hunt& one : all.hunts) {
        if (!hunts) hunts.emplace(exercises.folder().parent_path());
        require_whole(one.name, hunts->find(one.name).name);
      }
    } catch (const std::runtime_error& error) {
      throw WrongUse(path.string() + ": " + error.what());
    }
  }
  if (only.empty()) return all;
  const std::string name = exercises.find(only).name;
  const Assignment::Exercise* const known = all.find(name);
  all.exercises = {known == nullptr ? Assignment::Exercise{name, {}} : *known};
  all.hunts.clear();
  return all;
}

int run_grade(const BuildFolder& build, const GradeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  if (!fs::exists(options.submission)) {
    throw WrongUse("there is no " + data::quoted(options.submission) +
                   ": name the file, folder or archive that was handed in" +
                   data::did_you_mean_path(options.submission));
  }
  const Exercises exercises(build.source());
  const Assignment assignment = assignment_of(exercises, options.assignment, options.exercise);

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
