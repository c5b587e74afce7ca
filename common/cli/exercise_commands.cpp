// `halo hint`, `halo show`, `halo reset` and `halo progress`.
#include <cstdio>

#include "common/cli/commands.hpp"
#include "common/cli/help_with.hpp"
#include "common/exercise/standing.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

// What nobody could read was not given.
void tell(const Help& help, std::FILE* stream) {
  std::fputs(help.text.c_str(), stream);
  if (help.note && lost_output().empty()) std::fputs(help.note().c_str(), stream);
}

}  // namespace

int run_hint(const BuildFolder& build, const std::string& exercise, bool all) {
  const Exercises exercises(build.source());
  const ProgressFile progress(exercises.folder());
  tell(hint_for(exercises.find(exercise), progress, all, terminal_width(stdout)), stdout);
  return 0;
}

int run_show(const BuildFolder& build, const std::string& exercise, bool beside) {
  const Exercises exercises(build.source());
  const ProgressFile progress(exercises.folder());
  const Exercise& asked = exercises.find(exercise);
  if (beside) std::fputs(asked.begin().c_str(), stderr);
  const Help help = solution_for(asked, progress, beside);
  tell(help, help.given ? stdout : stderr);
  return help.given ? 0 : 1;
}

int run_reset(const BuildFolder& build, const std::string& exercise) {
  const Exercises exercises(build.source());
  std::fputs(begin_again(exercises.find(exercise)).text.c_str(), stdout);
  return 0;
}

int run_progress(const BuildFolder& build, const std::string& color) {
  const Exercises exercises(build.source());
  const ProgressFile progress(exercises.folder());
  std::fputs(standing_text(exercises, progress.read(), table_options(color, stdout)).c_str(),
             stdout);
  return 0;
}

}  // namespace halo
