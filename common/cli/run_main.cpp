// The words of `halo run`.
#include <string>
#include <vector>

#include "common/cli/commands.hpp"
#include "common/cli/passed_on.hpp"
#include "common/cli/program.hpp"
#include "common/harness/course.hpp"
#include "common/report/command_line.hpp"

namespace halo {
namespace {

int command_run(const Global& global, int argc, const char* const* argv) {
  RunOptions options;
  CommandLine line(
      "Runs a stage, or all: check, hazards, memory traffic, time.",
      "Options of stages are handed to their programs. Those of some families choose their "
      "stages:\n" +
          stages_by_family());
  line.positional("stage", options.stage,
                  "a stage: 04, 4 or its name (10 is 10a and 10b); default: all");
  line.option("--on", "sim|gpu", options.on, "where to run; default: a GPU if there is one");
  line.option("--json", "FILE", options.json, "also write the results to this file");
  line.flag("--all", options.all,
            "every table; default: a few lines where there is no stage, or a file of your own");
  std::string time_limit;
  line.option("--time-limit", "SECONDS", time_limit,
              "stop a variant that shows no progress in this much processor time, or sleeps this "
              "long; default: 600; 0: never");
  line.option("--color", "WHEN", options.color, "auto, always or never");

  line.flag("--search", options.search,
            "also run the variants with other numbers, to find this GPU's best (needs a stage)");
  line.flag(
      "--plan", options.plan,
      "conv2d network: print how the stage would divide its layers, or which kernel and layout "
      "it takes for each, and stop (needs a stage)");

  const PassedOn passed_on(line, PassedOn::For::run);
  if (!line.parse(argc, argv)) return 0;
  if (!time_limit.empty()) {
    options.time_limit = static_cast<int>(parse_number("--time-limit", time_limit, 0, 1'000'000));
  }
  options.passed_on = passed_on.given();
  options.of_families = passed_on.of_families();
  if (options.plan) options.of_families.push_back({"--plan", {"conv2d", "network"}});
  if (options.search) options.of_families.push_back({"--search", {"conv2d", "pooling"}});
  // All stages run on a file, of whatever kind, that only one family reads. (Networks take pictures of
  // one size only: they are asked for by their stage.)
  if (const std::string* input = value_of(options.passed_on, "--input");
      input != nullptr && options.stage.empty()) {
    const std::vector<std::string> families = families_of(options.of_families);
    const bool is_picture =
        input->ends_with(".png") || input->ends_with(".pgm") || input->ends_with(".ppm");
    if (families.size() > 1) {
      options.of_families.push_back({"--input " + *input, {is_picture ? "conv2d" : "conv1d"}});
    }
  }
  require_one_of("--on", options.on, {"auto", "sim", "gpu"});
  require_one_of("--color", options.color, {"auto", "always", "never"});

  return run_stages(BuildFolder(global.build), options);
}

}  // namespace

int run_main(int argc, char** argv) { return run_command(argc, argv, {{"run", command_run}}); }

}  // namespace halo
