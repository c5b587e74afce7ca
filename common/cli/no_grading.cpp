// A student's copy of the course, in which common/grader is missing: what these commands say there.
#include "common/cli/commands.hpp"

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
