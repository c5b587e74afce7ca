// What one does with exercises, and what is here: this needs the judge, standings and traces.
#include <string>

#include "common/cli/commands.hpp"
#include "common/cli/passed_on.hpp"
#include "common/cli/program.hpp"
#include "common/report/command_line.hpp"

namespace {

using namespace halo;
namespace fs = std::filesystem;

// `try` and `watch`: the same options, but for what has no use on a screen that is redrawn.
int command_judge(const Global& global, int argc, const char* const* argv, bool watches) {
  TryOptions options;
  bool no_ask = false;
  std::string seed, time_limit;
  CommandLine line(watches ? "Judges an exercise each time you save its file; end with q or Ctrl-C."
                           : "Judges your file of an exercise.",
                   "Your file is exercises/NN_name/*.cu, its task the README.md beside it.");
  line.positional("exercise", options.exercise,
                  "04, 4 or its name; default: the first that you have not passed");
  line.option("--on", "sim|gpu", options.on,
              "where to run; default: the simulator, which sees most");
  line.flag("--no-ask", no_ask, "do not ask for predictions before the first run");
  if (!watches) line.flag("--all", options.all, "show every fault in full");
  line.option(
      "--seed", "N", seed,
      "the seed of the check's inputs; default: your copy's, if it has one, else a new one per "
      "run, kept while something is wrong");
  line.option("--time-limit", "SECONDS", time_limit,
              "stop a compiler or check that shows no progress in this much processor time, or "
              "sleeps this long; default: 120; 0: never");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  options.ask = !no_ask;
  if (!seed.empty()) options.seed = parse_seed(seed);
  if (!time_limit.empty()) {
    options.time_limit = static_cast<int>(parse_number("--time-limit", time_limit, 0, 1'000'000));
  }
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});
  const BuildFolder build(global.build);
  return watches ? run_watch(build, options) : run_try(build, options);
}

int command_watch(const Global& global, int argc, const char* const* argv) {
  return command_judge(global, argc, argv, true);
}

int command_try(const Global& global, int argc, const char* const* argv) {
  return command_judge(global, argc, argv, false);
}

int command_debug(const Global& global, int argc, const char* const* argv) {
  DebugCommand command;
  std::string seed;
  CommandLine line(
      "Stops your kernel of an exercise in one thread, in the simulator: look at it, step it.",
      "Without --block and --thread: in the thread of the first wrong output of the smallest\n"
      "shape that is wrong.");
  line.positional("exercise", command.exercise, "04, 4 or its name");
  line.option("--block", "B", command.block, "the block's number in the grid");
  line.option("--thread", "T", command.thread, "the thread's number in the block");
  line.option("--line", "N", command.line, "a line of your file; default: where the kernel begins");
  line.option("--seed", "N", seed,
              "the seed of the inputs; default: your copy's, if it has one, else a new one");
  line.flag("--batch", command.batch, "say where it stopped and what is known there, and end");
  line.flag(
      "--dap", command.dap,
      "speak the Debug Adapter Protocol on stdin and stdout: for an editor, which starts this");
  if (!line.parse(argc, argv)) return 0;
  if (command.exercise.empty()) throw WrongUse("which exercise? For example: ./halo debug 04");
  constexpr std::int64_t kMost = 2'147'483'647;
  if (!command.block.empty()) parse_number("--block", command.block, 0, kMost);
  if (!command.thread.empty()) parse_number("--thread", command.thread, 0, 1023);
  if (!command.line.empty()) parse_number("--line", command.line, 1, 1'000'000);
  if (!seed.empty()) command.seed = parse_seed(seed);
  return run_debug(BuildFolder(global.build), command);
}

int command_trace(const Global& global, int argc, const char* const* argv) {
  TraceOptions options;
  CommandLine line(
      "Shows what a kernel does with memory: one page that needs no network, with its source,\n"
      "the sectors and bank conflicts of each line, and warps drawn lane by lane.",
      "  ./halo trace 04                                   a stage\n"
      "  ./halo trace 06 --variant first,second            two variants side by side\n"
      "  ./halo trace 04 --exercise                        your file of exercise 04\n"
      "  ./halo trace docs/examples/transpose.cu           any CUDA file, or a program of simcc\n"
      "(The solution of an exercise: ./halo show.) Options of stages are handed to their "
      "programs.");
  line.positional("what", options.what, "a stage (04), a .cu file, or a program that simcc made");
  line.flag("--explain", options.explain,
            "say it in words, for the worst lines, instead of a page");
  line.option("--output", "FILE.html", options.output,
              "where the page goes; default: the build folder");
  line.flag("--exercise", options.exercise, "your own file of the exercise of that number");
  line.option("--numbers", "N,N", options.numbers,
              "with --exercise: the problem, as its launch() takes it; default: the check's");
  line.option("--args", "WORDS", options.arguments, "of a file or a program: its arguments");
  bool no_open = false;
  line.flag("--no-open", no_open, "only write the page");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  const PassedOn passed_on(line, PassedOn::For::trace);
  if (!line.parse(argc, argv)) return 0;
  options.open = !no_open;
  options.passed_on = passed_on.given();
  options.of_families = passed_on.of_families();
  if (const std::string* variant = value_of(options.passed_on, "--variant")) {
    options.variant = *variant;
    std::erase_if(options.passed_on, [](const auto& one) { return one.first == "--variant"; });
  }
  if (options.what.empty()) {
    throw WrongUse("what should be traced? A stage (./halo trace 04) or a .cu file");
  }
  if (options.explain && !options.output.empty()) {
    throw WrongUse("--explain and --output: words or a page, not both");
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_trace(BuildFolder(global.build), options);
}

int command_hunt(const Global& global, int argc, const char* const* argv) {
  HuntOptions options;
  std::string number;
  CommandLine line("Bug hunts: kernels with one mistake each.",
                   "Claim the line and the kind, fix the file, and ask again: both are judged "
                   "together.");
  line.positional("hunt", options.hunt, "07, 7 or its name; default: list all");
  line.option("--after", "NN", options.after, "list those that can be found after stage NN");
  line.option("--line", "N", number, "the line that you think is wrong");
  line.option("--kind", "KIND", options.kind, "what kind of mistake it is");
  line.flag("--kinds", options.kinds, "the kinds there are, and what they mean");
  line.option("--color", "WHEN", options.color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  if (!number.empty()) {
    options.line = static_cast<int>(parse_number("--line", number, 1, 1'000'000));
  }
  if (options.hunt.empty() && (options.line > 0 || !options.kind.empty())) {
    throw WrongUse("which hunt? ./halo hunt 07 --line N --kind KIND");
  }
  if ((options.line > 0) != !options.kind.empty()) {
    throw WrongUse("a claim needs both: --line N and --kind KIND");
  }
  if (!options.after.empty()) {
    parse_number("--after", options.after, 0, 99);
    if (options.after.size() == 1) options.after.insert(0, "0");
  }
  require_one_of("--color", options.color, {"auto", "always", "never"});
  return run_hunt(BuildFolder(global.build), options);
}

// A command about one exercise; `flag` is the only option that it has, if any.
struct AboutExercise {
  const char* description;
  const char* epilogue;
  const char* flag;
  const char* help;
};
int command_about(const Global& global, int argc, const char* const* argv,
                  const AboutExercise& about,
                  int (*command)(const BuildFolder&, const std::string&, bool)) {
  std::string exercise;
  bool flag = false;
  CommandLine line(about.description, about.epilogue);
  line.positional("exercise", exercise, "04, 4 or its name");
  if (about.flag != nullptr) line.flag(about.flag, flag, about.help);
  if (!line.parse(argc, argv)) return 0;
  if (exercise.empty())
    throw WrongUse("which exercise? For example: " + std::string(argv[0]) + " 04");
  return command(BuildFolder(global.build), exercise, flag);
}

int command_progress(const Global& global, int argc, const char* const* argv) {
  std::string color = "auto";
  CommandLine line("Says what you have passed, your points, and what is next.",
                   "All of it is kept in exercises/progress.json.");
  line.option("--color", "WHEN", color, "auto, always or never");
  if (!line.parse(argc, argv)) return 0;
  require_one_of("--color", color, {"auto", "always", "never"});
  return run_progress(BuildFolder(global.build), color);
}

// A command without options of its own.
int simple_command(const Global& global, int argc, const char* const* argv, const char* description,
                   int (*command)(const BuildFolder&)) {
  CommandLine line(description, "");
  if (!line.parse(argc, argv)) return 0;
  return command(BuildFolder(global.build));
}

int command_hint(const Global& global, int argc, const char* const* argv) {
  return command_about(global, argc, argv,
                       {"Shows the next hint of an exercise. Each is counted and costs nothing.",
                        "", "--all", "those that you have seen, again"},
                       run_hint);
}

int command_show(const Global& global, int argc, const char* const* argv) {
  return command_about(
      global, argc, argv,
      {"Shows the solution of an exercise that you have passed.",
       "Before you have passed it, ask twice; that is noted. What a kernel's lanes "
       "touch: ./halo trace.",
       "--beside", "how your file differs from it"},
      run_show);
}

int command_reset(const Global& global, int argc, const char* const* argv) {
  return command_about(global, argc, argv,
                       {"Puts the file of an exercise back to how it was at the start.",
                        "Yours is kept beside it as NAME.cu.1, .2 and so on.", nullptr, nullptr},
                       [](const BuildFolder& build, const std::string& name, bool) {
                         return run_reset(build, name);
                       });
}

int command_list(const Global& global, int argc, const char* const* argv) {
  return simple_command(global, argc, argv, "Lists the stages and the exercises.", list_stages);
}

int command_doctor(const Global& global, int argc, const char* const* argv) {
  return simple_command(global, argc, argv,
                        "Says what is present, and what each missing thing costs.", run_doctor);
}

int command_toolkit(const Global& global, int argc, const char* const* argv) {
  return simple_command(
      global, argc, argv,
      "Builds simcc, whose programs run in the simulator. Where there is no nvcc 13,\n"
      "NVIDIA's is first downloaded from PyPI, for this only.",
      run_toolkit);
}

}  // namespace

int main(int argc, char** argv) {
  return halo::run_command(argc, argv,
                           {
                               {"trace", command_trace},
                               {"try", command_try},
                               {"watch", command_watch},
                               {"hint", command_hint},
                               {"show", command_show},
                               {"reset", command_reset},
                               {"debug", command_debug},
                               {"hunt", command_hunt},
                               {"progress", command_progress},
                               {"list", command_list},
                               {"doctor", command_doctor},
                               {"toolkit", command_toolkit},
                           });
}
