// `halo grade --class`: a process of `halo grade` for each submission.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/build/compiler_output.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/temporary_folder.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/exercises.hpp"
#include "common/exercise/hunts.hpp"
#include "common/grader/assignment.hpp"
#include "common/grader/class.hpp"
#include "common/grader/grade.hpp"
#include "common/process/process.hpp"
#include "common/report/rows.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

// Grades a file that is known to be right by the very command that grades the others, so that no student pays for what this
// machine lacks. Throws MachineFault.
void rehearse(const std::vector<std::string>& command, const std::filesystem::path& output,
              const std::string& name) {
  Progress progress(Progress::Elsewhere::lines);
  progress.show("trying the grader with a file that is right: " + name);
  const Ended ended = run_program(command);
  progress.clear();
  const auto fail = [&](const std::string& why) {
    throw MachineFault("no submission was graded: " + name +
                       ", which is right, has no grade here: " + why);
  };
  try {
    const grader::Grade grade = grader::grade_from_json(json::Value::parse(text_of_file(output)));
    if (!grade.error.empty()) fail(grade.error);
    for (const grader::ExerciseGrade& exercise : grade.exercises) {
      if (!exercise.refusal.empty()) fail(exercise.refusal);
      for (const grader::GradedCase& one : exercise.cases) {
        if (one.outcome != Outcome::good) fail(one.name + ": " + one.message);
      }
    }
    if (grade.exercises.empty()) fail("nothing was judged");
  } catch (const data::DataError&) {
    fail(how_it_ended(ended) + "; it said: " + last_line(ended.err));
  } catch (const json::Error& error) {
    fail(error.what());
  }
}

}  // namespace

int run_grade_class(const BuildFolder& build, const GradeOptions& options) {
  namespace fs = std::filesystem;
  const grader::ClassList list = [&] {
    try {
      std::vector<fs::path> beside = grader::results_in(options.results);
      beside.push_back(options.assignment);
      return grader::list_class(options.class_of, options.roster, beside);
    } catch (const data::DataError& error) {
      throw WrongUse(std::string(error.what()));
    }
  }();
  for (const std::string& remark : list.remarks) {
    std::fprintf(stderr, "halo: %s\n", data::printable(remark).c_str());
  }
  const Exercises exercises(build.source());
  // What all need is built before the first of them asks for it.
  const std::string backend = choose_exercise_backend(build, "sim");
  const grader::Assignment of_all = assignment_of(exercises, options.assignment, options.exercise);
  const fs::path assignment = of_all.file.empty() ? fs::path() : fs::absolute(of_all.file);
  const auto& graded = of_all.exercises;
  AttemptOptions attempt;
  attempt.backend = backend;
  attempt.hidden = assignment;
  for (const grader::Assignment::Exercise& one : graded) {
    prepare_exercise(build, exercises.find(one.name), backend);
    if (!one.hidden.empty()) describe_exercise(build, exercises.find(one.name), attempt);
  }
  if (!of_all.hunts.empty()) {
    const Hunts hunts(build.source());
    for (const grader::Assignment::Hunt& one : of_all.hunts) {
      prepare_exercise(build, hunts.find(one.name).as_exercise(), backend);
    }
  }

  grader::ClassGrading grading;
  grading.results = options.results;
  grading.jobs = options.jobs > 0 ? options.jobs : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  grading.shard = options.shard;
  grading.shards = options.shards;
  grading.limit = std::chrono::seconds(options.submission_limit);
  std::vector<std::string> how = {"--format", "json"};
  if (options.seed) how.insert(how.end(), {"--seed", std::to_string(*options.seed)});
  if (options.own_inputs) how.push_back("--own-inputs");
  if (!options.exercise.empty()) how.insert(how.end(), {"--exercise", options.exercise});
  how.insert(how.end(), options.passed_on.begin(), options.passed_on.end());
  grading.basis = HALO_VERSION;
  for (const std::string& word : how) grading.basis += '\n' + word;
  if (!assignment.empty()) {
    grading.basis += '\n' + text_of_file(assignment);
    // All are measured by all of it, whatever they handed in.
    how.insert(how.end(), {"--assignment", assignment.string()});
  }
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  grading.grader = [&](const grader::ClassMember& member, const fs::path& output) {
    std::vector<std::string> command = {self, "--build", build.path().string(), "grade"};
    command.insert(command.end(), how.begin(), how.end());
    command.insert(command.end(), {"--student=" + member.id, "--output", output.string(), "--",
                                   fs::absolute(member.submission).string()});
    return command;
  };
  // A copy without solutions has no file that is known to be right.
  const auto known = std::find_if(graded.rbegin(), graded.rend(), [&](const auto& one) {
    return exercises.find(one.name).has_solution();
  });
  if (known != graded.rend()) {
    grading.rehearsal = [&] {
      const data::TemporaryFolder folder("halo-class");
      const Exercise& exercise = exercises.find(known->name);
      const fs::path right = exercise.solution();
      std::vector<std::string> command =
          grading.grader({"rehearsal", "", right, ""}, folder.path() / "grade.json");
      if (options.exercise.empty()) {
        command.insert(std::find(command.begin(), command.end(), "--"),
                       {"--exercise", exercise.number});
      }
      rehearse(command, folder.path() / "grade.json", exercise.path_of(right));
    };
  }
  const grader::ClassRound round = grade_class(list, grading);
  if (round.interrupted != 0) {
    std::fprintf(stderr, "halo: interrupted: %zu were graded; the same command continues\n",
                 round.graded + round.kept);
    return 128 + round.interrupted;
  }
  if (options.shards > 1) {
    std::printf(
        "shard %d of %d: %zu graded, %zu kept, %zu errors; at the end: the same without --shard\n",
        options.shard, options.shards, round.graded, round.kept, round.errors);
  } else {
    std::fputs(write_class(list, grading.results).c_str(), stdout);
    std::printf("\n%zu graded now, %zu kept: %s, and grades/NAME.json beside it\n", round.graded,
                round.kept, seen_from_here(grading.results / "class.csv").c_str());
  }
  const bool all_have_grades =
      round.errors == 0 && std::all_of(list.members.begin(), list.members.end(),
                                       [](const auto& one) { return one.fault.empty(); });
  return all_have_grades ? 0 : kNotWritten;
}

}  // namespace halo
