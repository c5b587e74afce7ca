// `halo grade --class`: a process of `halo grade` for each submission.
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/build/compiler_output.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/exercises.hpp"
#include "common/grader/assignment.hpp"
#include "common/grader/class.hpp"

namespace halo {
namespace {

std::vector<std::string> exercises_of(const GradeOptions& options, const Exercises& exercises,
                                      const std::filesystem::path& assignment) {
  if (!options.exercise.empty()) return {exercises.find(options.exercise).name};
  std::vector<std::string> names;
  if (assignment.empty()) {
    for (const Exercise& exercise : exercises.all()) names.push_back(exercise.name);
    return names;
  }
  try {
    for (const auto& one : grader::read_assignment(assignment).exercises) names.push_back(one.name);
  } catch (const std::runtime_error& error) {
    throw WrongUse(error.what());
  }
  return names;
}

}  // namespace

int run_grade_class(const BuildFolder& build, const GradeOptions& options) {
  namespace fs = std::filesystem;
  grader::ClassList list = [&] {
    try {
      return grader::list_class(options.class_of, options.roster);
    } catch (const data::DataError& error) {
      throw WrongUse(std::string(error.what()));
    }
  }();
  // Results that lie among the submissions are none.
  std::erase_if(list.members, [&](const grader::ClassMember& member) {
    std::error_code unknown;
    return fs::equivalent(member.submission, options.results, unknown);
  });
  for (const std::string& remark : list.remarks) {
    std::fprintf(stderr, "halo: %s\n", data::printable(remark).c_str());
  }
  const Exercises exercises(build.source());
  const fs::path assignment =
      options.assignment.empty() ? exercises.usual_assignment() : fs::absolute(options.assignment);
  // What all need is built before the first of them asks for it.
  const std::string backend = choose_exercise_backend(build, "sim");
  for (const std::string& name : exercises_of(options, exercises, assignment)) {
    prepare_exercise(build, exercises.find(name), backend);
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
  const grader::ClassRound round = grade_class(list, grading);
  if (round.interrupted != 0) {
    std::fprintf(stderr, "halo: interrupted: %zu were graded; the same command goes on\n",
                 round.graded + round.kept);
    return 128 + round.interrupted;
  }
  if (options.shards > 1) {
    std::printf(
        "shard %d of %d: %zu graded, %zu kept, %zu errors; in the end: the same without --shard\n",
        options.shard, options.shards, round.graded, round.kept, round.errors);
  } else {
    std::fputs(write_class(list, grading.results).c_str(), stdout);
    std::printf("\n%zu graded now, %zu kept: %s, and grades/NAME.json beside it\n", round.graded,
                round.kept, seen_from_here(grading.results / "class.csv").c_str());
  }
  return round.errors > 0 ? 1 : 0;
}

}  // namespace halo
