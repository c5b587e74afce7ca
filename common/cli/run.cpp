// `halo run`: starts the stage programs one after the other and merges what they report.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "common/cli/commands.hpp"
#include "common/cli/gpu.hpp"
#include "common/cli/process.hpp"
#include "common/harness/report.hpp"
#include "common/harness/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// A folder that disappears with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "halo-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw WrongUse("cannot make a folder in " + fs::temp_directory_path().string() +
                     ": set TMPDIR to one that can be written");
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

const std::string* value_of(const RunOptions& options, const std::string& name) {
  for (const auto& [key, value] : options.passed_on) {
    if (key == name) return &value;
  }
  return nullptr;
}

// The row of a stage program that reported nothing itself.
Row empty_row(const StageProgram& program, Outcome outcome, const std::string& check,
              const std::string& rest) {
  Row row;
  row.stage = program.stage;
  row.backend = program.backend;
  row.variant = "(program)";
  row.source = "stages/" + program.stage;
  row.check.outcome = outcome;
  row.check.reason = check;
  row.hazards.reason = row.traffic.reason = row.time.reason = rest;
  return row;
}

Row broken(const StageProgram& program, const std::string& reason) {
  return empty_row(program, Outcome::bad, reason, "the stage program failed");
}

Row not_run(const StageProgram& program, const std::string& reason) {
  return empty_row(program, Outcome::not_run, reason, reason);
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Runs one stage program. Throws WrongUse if it refuses its options; anything else that goes wrong
// becomes a row that failed.
Results run_program_of(const StageProgram& program, const RunOptions& options,
                       const std::string& seed, const fs::path& json, Progress& progress,
                       const std::string& label) {
  std::vector<std::string> command = {program.path.string(), "--json", json.string()};
  for (const auto& [name, value] : options.passed_on) {
    if (name != "--seed") command.insert(command.end(), {name, value});
  }
  if (options.report_table) command.push_back("--report-table");
  command.insert(command.end(), {"--seed", seed});
  const Ended ended = run_program(command, [&](const std::string&) { progress.show(label); });
  progress.clear();

  Results results;
  std::string said = last_line(ended.err);
  const std::string prefix = program.path.filename().string() + ": ";
  if (said.rfind(prefix, 0) == 0) said.erase(0, prefix.size());
  const bool has_results = fs::exists(json);
  const auto fail = [&](const std::string& what) {
    results.rows.push_back(broken(program, said.empty() ? what : what + "; it said: " + said));
    return results;
  };
  if (!ended.started) {
    results.rows.push_back(broken(program, ended.err));
    return results;
  }
  if (ended.status == 2 && !has_results) {
    throw WrongUse(said.empty() ? program.path.string() + " refuses its options" : said);
  }
  if (ended.status == 77 && !has_results) {  // it could not even begin: too large a file, say
    const std::size_t mark = said.find("NOT RUN: ");
    results.rows.push_back(not_run(program, said.empty()
                                                ? "it gave no reason"
                                                : said.substr(mark == said.npos ? 0 : mark + 9)));
    return results;
  }
  if (ended.signal != 0) return fail("the program ended by " + how_it_ended(ended));
  if (!has_results) {
    return fail("the program ended with " + how_it_ended(ended) + " and left no results");
  }
  try {
    results = results_from_json(read_text(json), program.stage);
  } catch (const std::exception& error) {
    return fail(std::string("its results cannot be read: ") + error.what());
  }
  // The status and the rows must tell the same story. (2 beside rows: the checks ran, but what was
  // to be written could not be.)
  if (ended.status == 2) {
    std::fprintf(stderr, "halo: %s\n", said.c_str());
  } else if (exit_status(results.rows) != ended.status) {
    return fail("the program ended with " + how_it_ended(ended) + ", which its " +
                std::to_string(results.rows.size()) + " result rows do not explain");
  }
  if (const std::string wrote = last_line(ended.out); wrote.rfind("wrote ", 0) == 0) {
    std::fprintf(stderr, "halo: %s\n", wrote.c_str());
  }
  return results;
}

}  // namespace

Choice choose_programs(const BuildFolder& build, const RunOptions& options) {
  const auto& programs = build.programs();
  const std::string stage = options.stage.empty() ? "" : find_stage(build, options.stage);
  if (stage.empty()) {
    for (const char* name : {"--output", "--variant", "--task"}) {
      if (value_of(options, name)) {
        throw WrongUse(std::string(name) + " needs a stage: ./halo run 04 " + name + " ...");
      }
    }
  }
  if (value_of(options, "--output") && !value_of(options, "--input")) {
    throw WrongUse("--output needs --input FILE");
  }
  const auto built_for = [&](const std::string& backend) {
    return std::any_of(programs.begin(), programs.end(),
                       [&](const StageProgram& p) { return p.backend == backend; });
  };

  Choice choice;
  const bool gpu_built = built_for("gpu");
  const bool sim_built = built_for("sim");
  const bool needs_backend = std::any_of(programs.begin(), programs.end(), [&](const auto& p) {
    return p.backend != "cpu" && (stage.empty() || p.stage == stage);
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
      throw CannotRun(gpu.found ? "no GPU programs are built: nvcc was not found when the build "
                                  "was set up (./halo doctor)"
                                : "--on gpu: " + gpu.reason);
    } else if (sim_built) {
      choice.backend = "sim";
      choice.why = gpu.found ? "no GPU programs are built, since nvcc was not found" : gpu.reason;
    } else {
      throw CannotRun("no simulator is built, and " +
                      (gpu.found ? std::string("no GPU programs either") : gpu.reason) +
                      " (./halo doctor)");
    }
  }
  for (const StageProgram& program : programs) {
    const bool wanted = stage.empty() || program.stage == stage;
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
  const bool color = use_color(options.color, stdout);
  const Choice choice = choose_programs(build, options);
  for (const StageProgram& program : choice.programs) {
    if (!fs::exists(program.path)) {
      throw WrongUse(program.path.string() + " is not built: ./halo run builds what it needs");
    }
  }
  // Fail before the work, not after it.
  if (!options.json.empty()) {
    const fs::path folder = fs::absolute(options.json).parent_path();
    if (fs::is_directory(options.json) || !fs::is_directory(folder) ||
        access(folder.c_str(), W_OK) != 0) {
      throw WrongUse("--json: cannot write " + options.json);
    }
  }
  // One seed for all stages, so that one number repeats the run.
  const std::string* given = value_of(options, "--seed");
  const std::string seed =
      given ? *given : std::to_string(std::random_device()() % 1'000'000'000u + 1);
  const std::string place = choice.backend == "gpu"   ? "on the GPU"
                            : choice.backend == "sim" ? "on the simulator"
                                                      : "on the CPU";

  Results merged = new_results(0, nullptr, std::strtoull(seed.c_str(), nullptr, 10));
  std::vector<std::string> words = {"halo", "run"};
  if (!options.stage.empty()) words.push_back(options.stage);
  if (choice.backend != "cpu") words.insert(words.end(), {"--on", choice.backend});
  for (const auto& [name, value] : options.passed_on) {
    if (name != "--seed") words.insert(words.end(), {name, value});
  }
  if (options.report_table) words.push_back("--report-table");
  words.insert(words.end(), {"--seed", seed});
  merged.command = joined(words);

  TemporaryFolder folder;
  Progress progress;
  bool described = false;  // by a program that knows its GPU
  for (std::size_t i = 0; i < choice.programs.size(); ++i) {
    const StageProgram& program = choice.programs[i];
    const std::string label = "running " + program.stage + " (" + std::to_string(i + 1) + " of " +
                              std::to_string(choice.programs.size()) + ") " +
                              (program.backend == "cpu" ? "on the CPU" : place);
    const Results part = run_program_of(program, options, seed,
                                        folder.path() / (program.stage + ".json"), progress, label);
    merged.rows.insert(merged.rows.end(), part.rows.begin(), part.rows.end());
    if (!described && !part.machine.cpu.empty()) {
      merged.machine = part.machine;
      described = !part.machine.gpu.empty();
    }
  }
  fill_ratios(merged.rows);

  // Not before: options that a program refuses give one line only.
  std::fprintf(stderr, "halo: %s (%s), seed %s\n", place.c_str(), choice.why.c_str(), seed.c_str());
  const TableOptions table{.color = color};
  const std::string text = options.report_table ? render_report_table(merged.rows, table)
                                                : render_table(merged.rows, table);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!options.json.empty()) {
    try {
      write_json(options.json, merged);
    } catch (const std::exception& error) {
      throw WrongUse(error.what());
    }
  }
  return exit_status(merged.rows);
}

}  // namespace halo
