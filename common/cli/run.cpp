// `halo run`: starts the stage programs one after the other and merges what they report.
#include <algorithm>
#include <cstdio>

#include "common/cli/commands.hpp"
#include "common/cli/gpu.hpp"
#include "common/cli/program_runs.hpp"
#include "common/harness/terminal.hpp"

namespace halo {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The stage that the user means: by number, with or without the leading zero, or by name.
std::string find_stage(const BuildFolder& build, const std::string& typed) {
  for (const std::string& stage : build.stages()) {
    const std::string number = stage.substr(0, 2);
    if (typed == stage || typed == number || (number[0] == '0' && typed == number.substr(1))) {
      return stage;
    }
  }
  std::vector<std::string> numbers;
  for (const std::string& stage : build.stages()) numbers.push_back(stage.substr(0, 2));
  throw WrongUse("no stage '" + typed + "': there are " + joined(numbers) + " (./halo list)");
}

}  // namespace

Choice choose_programs(const BuildFolder& build, const RunOptions& options) {
  const auto& programs = build.programs();
  const std::string stage = options.stage.empty() ? "" : find_stage(build, options.stage);
  if (stage.empty()) {
    for (const char* name : {"--output", "--variant", "--task"}) {
      if (value_of(options.passed_on, name)) {
        throw WrongUse(std::string(name) + " needs a stage: ./halo run 04 " + name + " ...");
      }
    }
  }
  if (value_of(options.passed_on, "--output") && !value_of(options.passed_on, "--input")) {
    throw WrongUse("--output needs --input FILE");
  }
  const auto built_for = [&](const std::string& backend) {
    return std::any_of(programs.begin(), programs.end(),
                       [&](const Program& p) { return p.backend == backend; });
  };

  Choice choice;
  const bool gpu_built = built_for("gpu");
  const bool sim_built = built_for("sim");
  const bool needs_backend = std::any_of(programs.begin(), programs.end(), [&](const auto& p) {
    return p.backend != "cpu" && (stage.empty() || p.name == stage);
  });
  if (!needs_backend && options.on == "auto") {
    choice.backend = "cpu";
    choice.why = "it needs neither a GPU nor the simulator";
  } else if (options.on == "sim") {
    if (!sim_built) {
      throw CannotRun("the simulator is not built here: ./halo doctor says what it lacks");
    }
    choice.backend = "sim";
    choice.why = "as asked";
  } else {
    const Gpu gpu = find_gpu();
    if (gpu.found && gpu_built) {
      choice.backend = "gpu";
      choice.why = gpu.name;
    } else if (options.on == "gpu") {
      throw CannotRun(gpu.found ? kNoGpuPrograms : "--on gpu: " + gpu.reason);
    } else if (sim_built) {
      choice.backend = "sim";
      choice.why = gpu.found ? "no GPU programs are built, since nvcc was not found" : gpu.reason;
    } else {
      throw CannotRun("no simulator is built, and " +
                      (gpu.found ? std::string("no GPU programs either") : gpu.reason) +
                      " (./halo doctor)");
    }
  }
  for (const Program& program : programs) {
    const bool wanted = stage.empty() || program.name == stage;
    if (wanted && (program.backend == choice.backend || program.backend == "cpu")) {
      choice.programs.push_back(program);
    }
  }
  if (choice.programs.empty()) {
    throw CannotRun((stage.empty() ? "no stage" : "stage " + stage) + " is built for the " +
                    choice.backend + " (./halo doctor)");
  }
  return choice;
}

int run_stages(const BuildFolder& build, const RunOptions& options) {
  const TableOptions table{.color = use_color(options.color, stdout)};
  const Choice choice = choose_programs(build, options);
  Request request{"halo run", options.passed_on, {}, options.json};
  if (!options.stage.empty()) request.command += " " + options.stage;
  if (choice.backend != "cpu") request.command += " --on " + choice.backend;
  if (options.report_table) {
    request.command += " --report-table";
    request.flags.push_back("--report-table");
  }
  const Results results = run_programs(choice.programs, request);

  // Not before: options that a program refuses give one line only.
  std::fprintf(stderr, "halo: %s (%s), seed %llu\n", place_of(choice.backend).c_str(),
               choice.why.c_str(), static_cast<unsigned long long>(results.seed));
  std::fputs(render(results, options.report_table, table).c_str(), stdout);
  std::fflush(stdout);
  save(results, request);
  return exit_status(results.rows);
}

}  // namespace halo
