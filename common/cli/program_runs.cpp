#include "common/cli/program_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "common/cli/process.hpp"
#include "common/data/file.hpp"
#include "common/report/json.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/summary.hpp"
#include "common/report/terminal.hpp"

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

// The row of a program that reported nothing itself.
Row empty_row(const Program& program, Outcome outcome, const std::string& check,
              const std::string& rest) {
  Row row;
  row.stage = program.name;
  row.backend = program.backend;
  row.variant = "(program)";
  row.source = program.name.starts_with("bench_") ? "stages/bench" : "stages/" + program.name;
  row.check.outcome = outcome;
  row.check.reason = check;
  row.hazards.reason = row.traffic.reason = row.time.reason = rest;
  return row;
}

Row broken(const Program& program, const std::string& reason) {
  return empty_row(program, Outcome::bad, reason, "the program failed");
}

std::string read_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// What a program says of its progress: its last whole line, if it begins with "layer" or "problem".
std::string progress_of(const std::string& out) {
  const std::size_t end = out.rfind('\n');
  const std::string line = last_line(out.substr(0, end == std::string::npos ? 0 : end));
  return line.starts_with("layer ") || line.starts_with("problem ") ? ": " + line : "";
}

// Runs one program. Throws WrongUse if it refuses its options; anything else that goes wrong becomes
// a row that failed.
Results run_one(const Program& program, const Request& request, const std::string& seed,
                const fs::path& json, Progress& progress, const std::string& label,
                std::string* printed) {
  std::vector<std::string> command = {program.path.string(), "--json", json.string()};
  for (const auto& [name, value] : request.passed_on) {
    if (name != "--seed") command.insert(command.end(), {name, value});
  }
  command.insert(command.end(), request.flags.begin(), request.flags.end());
  if (request.resume) command.push_back("--resume");
  command.insert(command.end(), {"--seed", seed});
  std::error_code absent;
  const auto written_before = fs::last_write_time(json, absent);
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = run_program(command, [&](const std::string& out) {
    const auto taken =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    progress.show(label + progress_of(out) + ", " + std::to_string(taken.count()) + " s");
  });
  progress.clear();

  Results results;
  std::string said = last_line(ended.err);
  const std::string prefix = program.path.filename().string() + ": ";
  if (said.rfind(prefix, 0) == 0) said.erase(0, prefix.size());
  // A file of an earlier run says nothing of this one.
  const bool has_results =
      fs::exists(json) && (absent || fs::last_write_time(json) != written_before);
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
    results.rows.push_back(
        not_run_row(program, said.empty() ? "it gave no reason"
                                          : said.substr(mark == said.npos ? 0 : mark + 9)));
    return results;
  }
  if (ended.signal != 0) return fail("the program ended by " + how_it_ended(ended));
  if (!has_results) {
    return fail("the program ended with " + how_it_ended(ended) + " and left no results");
  }
  try {
    results = results_from_json(read_text(json), program.name);
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
  if (printed != nullptr) {
    *printed = ended.out;
    if (printed->starts_with("seed ")) printed->erase(0, printed->find('\n') + 1);
  }
  if (const std::string wrote = last_line(ended.out); wrote.rfind("wrote ", 0) == 0) {
    std::fprintf(stderr, "halo: %s\n", wrote.c_str());
  }
  return results;
}

bool is_layer_of_network(const Row& row) {
  return std::any_of(row.problem.begin(), row.problem.end(), [](const auto& field) {
    return field.first == "layer" && field.second != Value("all");
  });
}

// Adds the pairs of `more` whose names are new.
template <class Named>
void add_new(Named& all, const Named& more) {
  for (const auto& one : more) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const auto& other) { return other.first == one.first; });
    if (!known) all.push_back(one);
  }
}

}  // namespace

Machine merged_machine(const Machine& a, const Machine& b) {
  const bool b_knows_more = a.cpu.empty() || (a.gpu.empty() && !b.gpu.empty());
  Machine machine = b_knows_more ? b : a;
  const Machine& other = b_knows_more ? a : b;
  add_new(machine.libraries, other.libraries);
  add_new(machine.roofs, other.roofs);
  // The worst of both: one program whose times mean nothing spoils the comparison.
  if (!other.build.empty() && other.build != "optimised") machine.build = other.build;
  return machine;
}

const std::string* value_of(const PassedOptions& options, const std::string& name) {
  for (const auto& [key, value] : options) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string place_of(const std::string& backend) {
  return backend == "gpu" ? "on the GPU" : backend == "sim" ? "on the simulator" : "on the CPU";
}

Row not_run_row(const Program& program, const std::string& reason) {
  return empty_row(program, Outcome::not_run, reason, reason);
}

Results run_programs(const std::vector<Program>& programs, const Request& request,
                     std::string* printed) {
  // Fail before the work, not after it.
  for (const Program& program : programs) {
    if (!fs::exists(program.path)) {
      throw WrongUse(program.path.string() + " is not built: ./" + request.command +
                     " builds what it needs");
    }
  }
  if (!request.json.empty()) {
    try {
      data::require_writable(request.json);
    } catch (const data::DataError& error) {
      throw WrongUse(std::string("--json: ") + error.what());
    }
  }
  // One seed for all, so that one number repeats the run.
  const std::string* given = value_of(request.passed_on, "--seed");
  std::string seed = given ? *given : std::to_string(std::random_device()() % 1'000'000'000u + 1);
  if (!given && request.resume && fs::exists(request.json)) {
    try {
      seed = std::to_string(read_json(request.json).seed);
    } catch (const std::exception& error) {
      throw WrongUse(std::string("--resume: ") + error.what());
    }
  }

  Results merged = new_results(0, nullptr, std::strtoull(seed.c_str(), nullptr, 10));
  merged.command = request.command;
  for (const auto& [name, value] : request.passed_on) {
    if (name != "--seed") merged.command += " " + name + " " + value;
  }
  if (request.resume) merged.command += " --resume";
  merged.command += " --seed " + seed;

  TemporaryFolder folder;
  Progress progress;
  Machine machine;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Program& program = programs[i];
    const std::string label = "running " + program.name + " (" + std::to_string(i + 1) + " of " +
                              std::to_string(programs.size()) + ") " + place_of(program.backend);
    const Results part =
        run_one(program, request, seed,
                request.grows ? fs::path(request.json)
                              : folder.path() / (program.name + "-" + program.backend + ".json"),
                progress, label, printed);
    merged.rows.insert(merged.rows.end(), part.rows.begin(), part.rows.end());
    machine = merged_machine(machine, part.machine);
  }
  if (!machine.cpu.empty()) merged.machine = machine;
  fill_ratios(merged.rows);
  fill_shares(merged.rows, merged.machine);
  return merged;
}

void save(const Results& results, const Request& request) {
  if (request.json.empty()) return;
  try {
    write_json(request.json, results);
  } catch (const std::exception& error) {
    throw WrongUse(error.what());
  }
}

std::string render(const Results& all, Shown shown, const TableOptions& options) {
  Results results = all;
  std::erase_if(results.rows, is_layer_of_network);
  const bool timed = std::any_of(results.rows.begin(), results.rows.end(),
                                 [](const Row& row) { return row.time.outcome == Outcome::good; });
  std::string text = timed ? render_machine(results.machine, options) : "";
  if (!text.empty()) text += "\n";
  return text + (shown == Shown::report_table ? render_report_table(results.rows, options)
                 : shown == Shown::brief      ? render_brief(results.rows, options)
                                              : render_table(results.rows, options));
}

}  // namespace halo
