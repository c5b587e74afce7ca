// `halo bench`: times each family's ladder of stages, on the CPU and on the GPU, beside its peers.
#include <algorithm>
#include <cstdio>

#include "common/build/gpu.hpp"
#include "common/cli/commands.hpp"
#include "common/cli/program_runs.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/course.hpp"
#include "common/report/json.hpp"
#include "common/report/summary.hpp"
#include "common/report/terminal.hpp"

namespace halo {

BenchChoice choose_ladders(const BuildFolder& build, const BenchOptions& options) {
  std::vector<std::string> families;
  for (const Program& ladder : build.ladders()) {
    if (families.empty() || families.back() != ladder.family) families.push_back(ladder.family);
  }
  if (families.empty()) throw CannotRun("no bench programs are set up here (./halo doctor)");
  if (!options.family.empty()) {
    if (std::find(families.begin(), families.end(), options.family) == families.end()) {
      std::string names;
      for (const std::string& family : families) names += (names.empty() ? "" : ", ") + family;
      const bool known =
          std::any_of(course().begin(), course().end(),
                      [&](const CourseStage& stage) { return stage.family == options.family; });
      // Without nvcc there is no program for most of them.
      if (known) {
        throw CannotRun("no bench program of " + options.family + " is set up here, only of " +
                        names + " (./halo doctor)");
      }
      throw WrongUse("no family " + data::quoted(options.family) +
                     data::did_you_mean(options.family, families) + " (there are " + names + ")");
    }
    families = {options.family};
  }
  // Options that only some families have choose those.
  if (const auto having = families_of(options.of_families); !having.empty()) {
    std::erase_if(families, [&](const std::string& family) {
      return std::find(having.begin(), having.end(), family) == having.end();
    });
    if (families.empty()) {
      throw WrongUse(
          options.of_families.front().name + " is for " + any_of(having) +
          (options.family.empty() ? ", which is not set up here" : ", not " + options.family));
    }
  }
  if (!options.set.empty()) require_bench_set(options.family, options.set);
  if (options.resume && options.json.empty()) {
    throw WrongUse("--resume needs --json: the file to continue");
  }
  for (const auto& [given, name] :
       {std::pair{options.resume, "--resume"},
        std::pair{value_of(options.passed_on, "--problem") != nullptr, "--problem"}}) {
    if (given && families.size() > 1) {
      throw WrongUse(std::string(name) + " needs a family: ./halo bench " + families.front() + " " +
                     name + " ...");
    }
  }
  BenchChoice choice;
  Gpu gpu;
  if (options.on != "cpu") {
    gpu = find_gpu();
    if (gpu.found) choice.gpu = gpu.name;
    choice.reason = gpu.found ? kNoGpuPrograms : gpu.reason;
  }
  for (const std::string& family : families) {
    for (const char* backend : {"cpu", "gpu"}) {
      if (options.on != "auto" && options.on != backend) continue;
      const auto ladder = std::find_if(
          build.ladders().begin(), build.ladders().end(),
          [&](const Program& one) { return one.family == family && one.backend == backend; });
      const bool is_gpu = backend == std::string("gpu");
      if (ladder != build.ladders().end() && (!is_gpu || gpu.found)) {
        choice.programs.push_back(*ladder);
      } else if (is_gpu) {
        const std::string name = "bench_" + family;
        choice.left_out.push_back({name, family, backend, "stages/bench/" + name + "-gpu"});
      }
    }
  }
  if (choice.programs.empty()) {
    throw CannotRun(options.on == "gpu" ? "--on gpu: " + choice.reason
                    : options.on == "cpu"
                        ? "--on cpu: no bench program for the CPU is set up here"
                        : "nothing to time: no bench program for the CPU, and " + choice.reason);
  }
  return choice;
}

int run_bench(const BuildFolder& build, const BenchOptions& options) {
  TableOptions table = table_options(options.color, stdout, options.format);
  table.source = build.source().string();
  const BenchChoice choice = choose_ladders(build, options);
  Request request{"halo bench", options.passed_on, {"--bench"}, options.json};
  if (!options.family.empty()) request.command += " " + options.family;
  if (!options.set.empty()) {
    request.command += " " + options.set;
    request.flags.insert(request.flags.end(), {"--set", options.set});
  }
  if (options.on != "auto") request.command += " --on " + options.on;
  // A family with sets of problems writes its file problem by problem.
  request.grows = !options.json.empty() && is_json_file(options.json) &&
                  choice.programs.size() == 1 &&
                  !bench_set_names(choice.programs.front().family).empty();
  request.resume = options.resume;
  Results results = run_programs(build, choice.programs, request);
  for (const Program& program : choice.left_out) {
    results.rows.push_back(not_run_row(program, choice.reason));
  }

  std::string places;
  for (const std::string backend : {"cpu", "gpu"}) {
    const auto there = [&](const Program& one) { return one.backend == backend; };
    if (std::none_of(choice.programs.begin(), choice.programs.end(), there)) continue;
    places += (places.empty() ? "" : " and ") + place_of(backend);
    if (backend == "gpu") places += " (" + choice.gpu + ")";
  }
  std::fprintf(stderr, "halo: %s, seed %llu\n", places.c_str(),
               static_cast<unsigned long long>(results.seed));
  if (!choice.left_out.empty()) {
    std::fprintf(stderr, "halo: NOT RUN on the GPU: %s\n", choice.reason.c_str());
  }
  if (const std::string& kind = results.machine.build; !kind.empty() && kind != "optimised") {
    std::fprintf(stderr, "halo: these times mean little: %s\n", kind.c_str());
  }
  std::fputs(render(results, render_brief, table).c_str(), stdout);
  std::fflush(stdout);
  save(results, request);
  return run_status(results);
}

}  // namespace halo
