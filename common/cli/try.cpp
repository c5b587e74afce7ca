// `halo try`: one attempt at an exercise, judged.
#include <cstdio>
#include <map>

#include "common/cli/commands.hpp"
#include "common/exercise/judgement.hpp"
#include "common/report/terminal.hpp"

namespace halo {

int run_try(const BuildFolder& build, const TryOptions& options) {
  const Exercises exercises(build.source());
  const ProgressFile progress(exercises.folder());
  const std::map<std::string, ExerciseRecord> records = progress.read();
  const Exercise* const exercise = options.exercise.empty() ? first_not_passed(exercises, records)
                                                            : &exercises.find(options.exercise);
  if (exercise == nullptr) {
    std::printf("all exercises are passed: ./halo progress\n");
    return 0;
  }
  std::fputs(exercise->begin().c_str(), stderr);
  text_of_file(exercise->source());  // before anything is built for it
  const std::string backend = choose_exercise_backend(build, options.on);
  if (options.ask) {
    const auto known = records.find(exercise->name);
    ask_predictions(*exercise, known == records.end() ? ExerciseRecord() : known->second);
  }
  prepare_exercise(build, *exercise, backend);

  JudgementOptions judging;
  judging.attempt.backend = backend;
  judging.attempt.seed = options.seed ? std::to_string(*options.seed) : exercises.seed();
  judging.attempt.limit = std::chrono::seconds(options.time_limit);
  judging.table = table_options(options.color, stdout);
  judging.table.source = build.source().string();
  judging.lines = options.all ? 0 : judging.lines;
  const Judgement judgement = judge_exercise(build, exercises, *exercise, progress, judging);
  // What a compiler says is no result.
  std::fputs(judgement.screen.c_str(), judgement.status == 2 ? stderr : stdout);
  return judgement.status;
}

}  // namespace halo
