// `halo run`: starts the stage programs one after the other and merges what they report.
#include <algorithm>
#include <cstdio>

#include "common/cli/commands.hpp"
#include "common/cli/gpu.hpp"
#include "common/cli/process.hpp"
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

// What is asked of `run` as a whole, whatever is built.
void require_sense(const RunOptions& options) {
  if (options.stage.empty()) {
    for (const char* name : {"--output", "--variant", "--task"}) {
      if (value_of(options.passed_on, name)) {
        throw WrongUse(std::string(name) + " needs a stage: ./halo run 04 " + name + " ...");
      }
    }
    if (options.plan) throw WrongUse("--plan needs a stage: ./halo run 07 --plan");
    if (options.search) throw WrongUse("--search needs a stage: ./halo run 08 --search");
  }
  if (value_of(options.passed_on, "--output") && !value_of(options.passed_on, "--input")) {
    throw WrongUse("--output needs --input FILE");
  }
  if (value_of(options.passed_on, "--gpu") && !options.plan) {
    throw WrongUse("--gpu is for --plan: stages run on the GPU that is here");
  }
  if (options.plan && !options.json.empty()) throw WrongUse("--plan measures nothing for --json");
}

// The plan is for people: it goes to them as it is.
int print_plan(const Program& program, const PassedOptions& options) {
  std::vector<std::string> command = {program.path.string(), "--plan"};
  for (const auto& [name, value] : options) command.insert(command.end(), {name, value});
  const Ended ended = run_program(command);
  if (!ended.good()) {
    const std::string said = last_line(ended.err);
    const std::string prefix = program.path.filename().string() + ": ";
    throw WrongUse(said.empty() ? program.path.string() + " has no plan: " + how_it_ended(ended)
                                : said.substr(said.starts_with(prefix) ? prefix.size() : 0));
  }
  std::fputs(ended.out.c_str(), stdout);
  return 0;
}

}  // namespace

std::string family_of(const std::vector<FamilyOption>& options) {
  for (const FamilyOption& option : options) {
    if (option.family != options.front().family) {
      throw WrongUse(options.front().name + " is for " + options.front().family + " and " +
                     option.name + " for " + option.family + ": no stage has both");
    }
  }
  return options.empty() ? "" : options.front().family;
}

Choice choose_programs(const BuildFolder& build, const RunOptions& options) {
  const auto& programs = build.programs();
  const std::string stage = options.stage.empty() ? "" : find_stage(build, options.stage);
  require_sense(options);
  const std::string family = family_of(options.of_families);
  const auto wanted = [&](const Program& program) {
    if (!stage.empty()) return program.name == stage;
    // Options that only some stages have choose those.
    return family.empty() || program.family == family;
  };
  for (const Program& program : programs) {
    if (!stage.empty() && wanted(program) && !family.empty() && program.family != family) {
      throw WrongUse(options.of_families.front().name + " is for " + family + ", stage " +
                     program.name + " is " + (program.family.empty() ? "not" : program.family));
    }
  }
  if (!family.empty() && std::none_of(programs.begin(), programs.end(), wanted)) {
    throw CannotRun("no stage of " + family + " is set up here (./halo list)");
  }
  const auto built_for = [&](const std::string& backend) {
    return std::any_of(programs.begin(), programs.end(),
                       [&](const Program& p) { return p.backend == backend; });
  };

  Choice choice;
  const bool gpu_built = built_for("gpu");
  const bool sim_built = built_for("sim");
  const bool needs_backend = std::any_of(programs.begin(), programs.end(), [&](const auto& p) {
    return p.backend != "cpu" && wanted(p);
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
    if (wanted(program) && (program.backend == choice.backend || program.backend == "cpu")) {
      choice.programs.push_back(program);
    }
  }
  if (choice.programs.empty()) {
    throw CannotRun((!stage.empty()   ? "stage " + stage
                     : family.empty() ? "no stage"
                                      : "no stage of " + family) +
                    " is built for the " + choice.backend + " (./halo doctor)");
  }
  return choice;
}

int run_stages(const BuildFolder& build, const RunOptions& options) {
  const TableOptions table{.color = use_color(options.color, stdout)};
  const Choice choice = choose_programs(build, options);
  if (options.plan) return print_plan(choice.programs.front(), options.passed_on);
  Request request{"halo run", options.passed_on, {}, options.json};
  if (!options.stage.empty()) request.command += " " + options.stage;
  if (choice.backend != "cpu") request.command += " --on " + choice.backend;
  if (options.search) {
    request.command += " --search";
    request.flags.push_back("--search");
  }
  if (options.report_table) {
    request.command += " --report-table";
    request.flags.push_back("--report-table");
  }
  const Results results = run_programs(choice.programs, request);

  // Not before: options that a program refuses give one line only.
  std::fprintf(stderr, "halo: %s (%s), seed %llu\n", place_of(choice.backend).c_str(),
               choice.why.c_str(), static_cast<unsigned long long>(results.seed));
  std::fputs(
      render(results, options.report_table ? Shown::report_table : Shown::tables, table).c_str(),
      stdout);
  std::fflush(stdout);
  save(results, request);
  return exit_status(results.rows);
}

}  // namespace halo
