// A student's copy of the course, in which common/grader is missing: what the commands say that need it, and what
// attempt.cpp calls for nobody but them.
#include "common/cli/commands.hpp"
#include "common/grader/tripwires.hpp"

namespace halo {

bool can_grade() { return false; }

// Of an option that is refused with all others.
std::vector<std::string> grade_formats() { return {GradeOptions().format}; }

int run_grade(const BuildFolder&, const GradeOptions&) {
  throw CannotRun(
      "this is a student's copy of the course, which cannot grade: ./halo try judges an exercise");
}

int run_grade_class(const BuildFolder& build, const GradeOptions& options) {
  return run_grade(build, options);
}

int run_pack(const BuildFolder&, const PackOptions&) {
  throw CannotRun("this is a student's copy of the course, which cannot be packed");
}

}  // namespace halo

namespace halo::grader {

Tripped look_at(const CompiledFile&) { return {"nothing is graded here", {}}; }

std::vector<std::string> object_command(const std::vector<std::string>& words,
                                        const std::filesystem::path&,
                                        const std::filesystem::path&) {
  return words;
}

std::vector<std::string> link_command(const std::vector<std::string>& words,
                                      const std::filesystem::path&, const std::filesystem::path&) {
  return words;
}

std::filesystem::path translation_of(const std::filesystem::path&,
                                     const std::filesystem::path& object) {
  return object;
}

std::vector<std::string> symbols_command(const std::filesystem::path& object) {
  return {"nm", object.string()};
}

}  // namespace halo::grader
