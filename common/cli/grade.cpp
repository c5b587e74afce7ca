// `halo grade`: what a submission is worth.
#include "common/grader/grade.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "common/cli/attempt.hpp"
#include "common/cli/commands.hpp"
#include "common/cli/exercises.hpp"
#include "common/data/file.hpp"
#include "common/report/predictions.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
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

// What was predicted counts as it was handed in.
void add_predictions(const Marks& marks, const std::string& text, ExerciseGrade& grade) {
  if (marks.questions.empty()) return;
  const Predictions said = parse_predictions(text, "predictions.txt");
  std::vector<Judged> judged;
  std::string wrong;
  for (const Question& question : marks.questions) {
    Judged one = {question, {}, false};
    if (const Predictions::Line* const line = said.find(question.key)) one.said = line->said;
    if (!one.right()) wrong += (wrong.empty() ? "" : ", ") + question.key;
    judged.push_back(one);
  }
  GradedCase one;
  one.name = "what was predicted";
  one.kind = GradedCase::Kind::prediction;
  one.points = prediction_points(judged);
  one.most = kPredictionPoints;
  one.outcome = wrong.empty() ? Outcome::good : Outcome::bad;
  if (!wrong.empty()) one.message = "not answered, or wrong: " + wrong;
  grade.cases.push_back(one);
}

// A student's file in a copy of the exercise's folder, where nothing else is the student's.
ExerciseGrade grade_exercise(const BuildFolder& build, const Exercise& exercise,
                             const AttemptOptions& options, const std::string& predictions) {
  ExerciseGrade grade;
  grade.name = exercise.name;
  grade.title = exercise.title;
  const Attempt attempt = attempt_exercise(build, exercise, options);
  if (attempt.end == Attempt::End::not_compiled) {
    grade.refusal = "does not compile: " + attempt.mistake;
    return grade;
  }
  for (const CaseMark& mark : attempt.marks.cases) {
    grade.cases.push_back({mark.name, kind_of(mark.category), false, mark.points, mark.most,
                           mark.outcome, mark.message, mark.seconds});
  }
  add_predictions(attempt.marks, predictions, grade);
  return grade;
}

}  // namespace

int run_grade(const BuildFolder& build, const GradeOptions& options) {
  const Exercises exercises(build.source());
  const Exercise& exercise =
      exercises.find(options.exercise.empty() ? options.submission : options.exercise);
  const auto start = std::chrono::steady_clock::now();
  Grade grade;
  grade.student = options.submission;
  AttemptOptions attempt;
  attempt.backend = choose_exercise_backend(build, "sim");
  attempt.seed = options.seed;
  prepare_exercise(build, exercise, attempt.backend);
  Exercise submitted = exercise;
  submitted.sources = {fs::absolute(options.submission)};
  grade.exercises.push_back(grade_exercise(build, submitted, attempt, ""));
  grade.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s\n", to_json(grade).dump(1).c_str());
  return 0;
}

}  // namespace halo
