// `halo pack`: copies of the course for students, instructors and platforms.
#include "common/grader/pack.hpp"

#include <algorithm>
#include <cstdio>

#include "common/build/compiler_output.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/exercise/exercises.hpp"
#include "common/grader/assignment.hpp"
#include "common/grader/class.hpp"
#include "common/report/command_line.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;
using grader::Pack;

// The assignment whose exercises and seed count; the course's own, if none is named.
std::string assignment_text(const BuildFolder& build, const PackOptions& options) {
  return text_of_file(options.assignment.empty() ? Exercises(build.source()).usual_assignment()
                                                 : fs::path(options.assignment));
}

// Those of the assignment, or of them what was typed; what a grader would refuse is not packed.
std::vector<std::string> exercises_of(const BuildFolder& build, const PackOptions& options) {
  const Exercises exercises(build.source());
  const grader::Assignment assignment = assignment_of(exercises, options.assignment, "");
  std::vector<std::string> names;
  if (options.exercises.empty()) {
    for (const auto& one : assignment.exercises) names.push_back(one.name);
    return names;
  }
  for (const std::string& typed : split(options.exercises)) {
    const std::string& name = exercises.find(typed).name;
    if (assignment.find(name) == nullptr) {
      throw WrongUse("the assignment has no exercise " + data::quoted(typed));
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

// --seed, or the assignment's: `halo grade` takes the same.
std::uint64_t course_seed(const BuildFolder& build, const PackOptions& options) {
  if (options.seed) return *options.seed;
  const std::uint64_t seed = assignment_of(Exercises(build.source()), options.assignment, "").seed;
  if (seed == 0) throw WrongUse("the assignment has no seed: --seed N gives one");
  return seed;
}

// An archive's name, and a folder's within it.
void require_file_name(const std::string& student) {
  const bool plain = !student.empty() && student.front() != '.' &&
                     std::all_of(student.begin(), student.end(), [](unsigned char c) {
                       return std::isalnum(c) || c == '.' || c == '_' || c == '-' || c == '@' ||
                              c == '+' || c >= 0x80;
                     });
  if (!plain) {
    throw WrongUse("the id " + data::quoted(student) +
                   " cannot be a file's name: letters, digits and . _ - @ + only");
  }
}

void pack_for_student(const Pack& copy, const std::string& student, std::uint64_t seed,
                      const fs::path& target) {
  Pack own = copy;
  grader::add_student(own, student, grader::seed_of_student(seed, student));
  grader::write_pack(own, target, "halo");
}

int pack_students(const BuildFolder& build, const PackOptions& options, const Pack& course) {
  const Pack copy = grader::student_copy(course);
  std::vector<std::string> ids;
  if (!options.roster.empty()) ids = grader::ids_of_roster(options.roster);
  if (ids.empty() && options.student.empty()) {
    grader::write_pack(copy, options.target, "halo");
    std::printf("%zu files in %s: a student's copy\n", copy.size(), options.target.c_str());
    return 0;
  }
  const bool all = options.student.empty() || options.student == "all";
  if (all && ids.empty()) {
    throw WrongUse("--student all needs --roster FILE.csv, which says who they are");
  }
  if (!all) {
    if (!ids.empty() && std::find(ids.begin(), ids.end(), options.student) == ids.end()) {
      throw WrongUse("nobody in " + seen_from_here(options.roster) + " has the id " +
                     data::quoted(options.student) + data::did_you_mean(options.student, ids));
    }
    ids = {options.student};
  }
  for (const std::string& id : ids) require_file_name(id);
  const std::uint64_t seed = course_seed(build, options);
  if (!all) {
    pack_for_student(copy, options.student, seed, options.target);
    std::printf("%zu files in %s: the copy of %s, seed %llu\n", copy.size() + 1,
                options.target.c_str(), options.student.c_str(),
                static_cast<unsigned long long>(grader::seed_of_student(seed, options.student)));
    return 0;
  }
  std::error_code failed;
  fs::create_directories(options.target, failed);
  if (failed) {
    throw data::NotWritten("cannot write '" + options.target + "': " + failed.message());
  }
  Progress progress(Progress::Elsewhere::lines);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    progress.show("packing " + std::to_string(i + 1) + " of " + std::to_string(ids.size()));
    pack_for_student(copy, ids[i], seed, fs::path(options.target) / (ids[i] + ".zip"));
  }
  progress.clear();
  std::printf("%zu archives in %s: a copy for each student\n", ids.size(), options.target.c_str());
  return 0;
}

}  // namespace

int run_pack(const BuildFolder& build, const PackOptions& options) {
  const Pack course = grader::course_files(build.source());
  if (options.what == "student") return pack_students(build, options, course);
  Pack pack;
  if (options.what == "instructor") {
    pack = grader::instructor_copy(course);
    grader::write_pack(pack, options.target, "halo");
  } else {
    grader::Bundle bundle;
    bundle.platform = options.what;
    bundle.assignment = assignment_text(build, options);
    bundle.exercises = exercises_of(build, options);
    pack = grader::platform_bundle(course, bundle);
    // What the platform opens has its files at the top.
    grader::write_pack(pack, options.target, "");
  }
  std::printf("%zu %s in %s\n", pack.size(), pack.size() == 1 ? "file" : "files",
              options.target.c_str());
  return 0;
}

}  // namespace halo
