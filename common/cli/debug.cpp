// `halo debug`: a student's kernel in the simulator, stopped and stepped.
#include "common/cli/commands.hpp"
#include "common/exercise/attempt.hpp"
#include "common/report/command_line.hpp"

namespace halo {

int run_debug(const BuildFolder& build, const DebugCommand& command) {
  const Exercises exercises(build.source());
  const Exercise& exercise = exercises.find(command.exercise);
  std::fputs(exercise.begin().c_str(), stderr);
  prepare_exercise(build, exercise, choose_exercise_backend(build, "sim"));
  debug_exercise(build, exercise,
                 {command.block, command.thread, command.line, command.batch, command.dap},
                 command.seed ? std::to_string(*command.seed) : exercises.seed());
}

}  // namespace halo
