// Which programs of stages a command line means.
#include <algorithm>

#include "common/build/gpu.hpp"
#include "common/cli/commands.hpp"
#include "common/data/suggestion.hpp"

namespace halo {
namespace {

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The stages that the user means: one by its name, or all of a number, with or without the leading zero.
std::vector<std::string> find_stages(const BuildFolder& build, const std::string& typed) {
  std::vector<std::string> found;
  std::vector<std::string> numbers;
  for (const std::string& stage : build.stages()) {
    const std::string number = stage.substr(0, 2);
    if (typed == stage || typed == build.short_name(stage)) return {stage};
    if (typed == number || (number[0] == '0' && typed == number.substr(1))) found.push_back(stage);
    if (!contains(numbers, number)) numbers.push_back(number);
  }
  if (!found.empty()) return found;
  throw WrongUse("no stage '" + typed + "'" + data::did_you_mean(typed, build.stages()) +
                 " (there are " + joined(numbers) + ": ./halo list)");
}

// What is asked of `run` as a whole, whatever is built.
void require_sense(const RunOptions& options) {
  if (options.stage.empty()) {
    for (const auto& [name, stage] : {std::pair{"--output", "04"}, std::pair{"--variant", "04"},
                                      std::pair{"--problem", "11"}}) {
      if (value_of(options.passed_on, name)) {
        throw WrongUse(std::string(name) + " needs a stage: ./halo run " + stage + " " + name +
                       " ...");
      }
    }
    if (options.plan) throw WrongUse("--plan needs a stage: ./halo run 07 --plan");
    if (options.search) throw WrongUse("--search needs a stage: ./halo run 08 --search");
  }
  if (value_of(options.passed_on, "--output") && !value_of(options.passed_on, "--input")) {
    throw WrongUse("--output needs --input FILE");
  }
  if (value_of(options.passed_on, "--gpu") && !options.plan) {
    throw WrongUse("--gpu is for --plan: stages run on this machine's GPU");
  }
  if (options.plan && !options.json.empty()) throw WrongUse("--plan measures nothing for --json");
}

}  // namespace

const std::string* value_of(const PassedOptions& options, const std::string& name) {
  for (const auto& [key, value] : options) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string any_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  }
  return text;
}

std::vector<std::string> families_of(const std::vector<FamilyOption>& options) {
  if (options.empty()) return {};
  std::vector<std::string> families = options.front().families;
  for (const FamilyOption& option : options) {
    std::erase_if(families,
                  [&](const std::string& one) { return !contains(option.families, one); });
    if (families.empty()) {
      throw WrongUse(options.front().name + " is for " + any_of(options.front().families) +
                     " and " + option.name + " for " + any_of(option.families) +
                     ": no stage has both");
    }
  }
  return families;
}

Choice choose_programs(const BuildFolder& build, const RunOptions& options) {
  const auto& programs = build.programs();
  const std::vector<std::string> stages =
      options.stage.empty() ? build.stages() : find_stages(build, options.stage);
  require_sense(options);
  const std::vector<std::string> families = families_of(options.of_families);
  const auto has_options = [&](const Program& program) {
    return families.empty() || contains(families, program.family);
  };
  // Options that only some stages have choose those.
  const auto wanted = [&](const Program& program) {
    return contains(stages, program.name) && has_options(program);
  };
  if (std::none_of(programs.begin(), programs.end(), wanted)) {
    if (options.stage.empty()) {
      throw CannotRun("no stage of " + any_of(families) + " is set up here (./halo list)");
    }
    const auto program = std::find_if(programs.begin(), programs.end(), [&](const Program& one) {
      return contains(stages, one.name);
    });
    throw WrongUse(options.of_families.front().name + " is for " + any_of(families) + ", stage " +
                   program->name + " is " + (program->family.empty() ? "not" : program->family));
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
    throw CannotRun((!options.stage.empty() ? "stage " + stages.front()
                     : families.empty()     ? "no stage"
                                            : "no stage of " + any_of(families)) +
                    " is built for the " + choice.backend + " (./halo doctor)");
  }
  if (choice.programs.size() > 1 && value_of(options.passed_on, "--variant")) {
    std::vector<std::string> names;
    for (const Program& program : choice.programs) names.push_back(program.name);
    throw WrongUse("--variant: stage " + options.stage + " has more than one program: name " +
                   any_of(names));
  }
  return choice;
}

}  // namespace halo
