// `halo run`: starts the stage programs one after the other and merges what they report.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "common/build/builder.hpp"
#include "common/cli/commands.hpp"
#include "common/cli/last_runs.hpp"
#include "common/cli/passed_on.hpp"
#include "common/cli/program_runs.hpp"
#include "common/data/file.hpp"
#include "common/process/process.hpp"
#include "common/report/overview.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

// The plan is for people: it goes to them as it is.
int print_plan(const BuildFolder& build, const Program& program, const PassedOptions& options) {
  std::vector<std::string> command = {program.path.string(), "--plan"};
  for (const auto& [name, value] : options) {
    command.push_back(name);
    if (!value.empty()) command.push_back(value);
  }
  Progress progress(Progress::Elsewhere::lines);
  if (!build_all(build, {program.path}, program.name, progress).empty()) {
    throw WrongUse(program.name + " does not compile, so it has no plan");
  }
  program.choose_runtime();
  const Ended ended = run_program(
      command, [&](const std::string&) { progress.show(program.name + " makes its plan"); });
  progress.clear();
  if (!ended.good()) {
    const std::string said = last_line(ended.err);
    const std::string prefix = program.path.filename().string() + ": ";
    throw WrongUse(said.empty() ? program.path.string() + " has no plan: " + how_it_ended(ended)
                                : said.substr(said.starts_with(prefix) ? prefix.size() : 0));
  }
  std::fputs(ended.out.c_str(), stdout);
  return 0;
}

// Whether all rows from `first` on are the program's own.
bool told_all(const Results& results, std::size_t first) {
  return std::none_of(results.rows.begin() + static_cast<std::ptrdiff_t>(first), results.rows.end(),
                      [](const Row& row) { return row.variant == kProgramRow; });
}

std::vector<Row> rows_from(const Results& results, std::size_t first) {
  Results fresh;
  fresh.rows.assign(results.rows.begin() + static_cast<std::ptrdiff_t>(first), results.rows.end());
  return without_layers(fresh).rows;
}

// Where to go on from all stages: the first that fails, else one that has most to show.
std::string what_next(const Results& results, const RunOptions& options) {
  constexpr const char* kTelling = "04";
  std::string stage;
  for (const Row& row : results.rows) {
    if (row.role != Role::variant) continue;
    const std::string number = row.stage.substr(0, 2);
    if (stage.empty() || number == kTelling) stage = number;
    if (exit_status({row}) == 1) {
      stage = number;
      break;
    }
  }
  if (stage.empty()) return "";
  return "next: ./halo run " + stage + "   one stage      ./halo run --all   every table" +
         (options.json.empty() ? "      --json FILE" : "") + "\n";
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

// What the worst lines of a stage's variant do, in words: ./halo trace says it, and is built for it. Empty if that
// cannot be had: the table has said what differs.
std::string explain_variant(const BuildFolder& build, const Program& program,
                            const RunOptions& options, const std::string& variant) {
  const std::filesystem::path tracer = build.own_program("halo-exercise");
  Progress progress;
  if (!build.makes(tracer) || !build_all(build, {tracer}, "./halo trace", progress).empty()) {
    return "";
  }
  std::vector<std::string> command = {tracer.string(), "--build",    build.path().string(), "trace",
                                      program.name,    "--explain",  "--variant",           variant,
                                      "--color",       options.color};
  for (const auto& [name, value] : options.passed_on) {
    if (is_of_a_trace(name) && name != "--variant" && name != "--without") {
      command.push_back(name);
      if (!value.empty()) command.push_back(value);
    }
  }
  const Ended ended =
      run_program(command, [&](const std::string&) { progress.show("tracing " + variant); });
  progress.clear();
  return ended.good() ? ended.out : "";
}

// Of the first variant whose traffic is not what was predicted: what its worst lines do. (A right one costs what it
// costs; of a wrong one the mistake comes first.)
void explain_differences(const BuildFolder& build, const Choice& choice, const RunOptions& options,
                         const Results& results) {
  for (const Row& row : results.rows) {
    if (row.traffic.outcome != Outcome::bad || row.check.outcome != Outcome::good ||
        row.hazards.outcome == Outcome::bad || row.role != Role::variant) {
      continue;
    }
    for (const Program& program : choice.programs) {
      if (program.name != row.stage) continue;
      const std::string why = explain_variant(build, program, options, row.variant);
      if (why.empty()) return;
      print("\n" + why + "to see it: ./halo trace " + build.short_name(program.name) +
            " --variant " + row.variant + "\n");
      return;
    }
  }
}

constexpr const char* kDetails = "details: --all\n";

}  // namespace

int run_stages(const BuildFolder& build, const RunOptions& options) {
  TableOptions table = table_options(options.color, stdout);
  table.source = build.source().string();
  const Choice choice = choose_programs(build, options);
  const std::string* const input = value_of(options.passed_on, "--input");
  // A program that is there says it itself; another takes minutes to build.
  const bool builds = std::ranges::any_of(
      choice.programs, [](const Program& one) { return !std::filesystem::exists(one.path); });
  if (input != nullptr && builds) data::InputFile{*input};
  if (options.plan) return print_plan(build, choice.programs.front(), options.passed_on);
  Request request{"halo run", options.passed_on, {}, options.json};
  request.carries_on = true;
  request.time_limit = options.time_limit;
  if (!options.stage.empty()) request.command += " " + options.stage;
  if (choice.backend != "cpu") request.command += " --on " + choice.backend;
  if (options.search) {
    request.command += " --search";
    request.flags.push_back("--search");
  }
  // All stages in a line each, unless their tables are asked for.
  const bool brief = options.stage.empty() && !options.all;
  // No line tells of libraries, and to load, try and time them takes long.
  if (brief && options.json.empty() && choice.backend == "gpu" &&
      value_of(request.passed_on, "--no-peers") == nullptr) {
    request.passed_on.emplace_back("--no-peers", "");
  }
  // A network's program tells it best itself: layer by layer, and which digit it saw.
  const bool tells = choice.programs.size() == 1 && choice.programs.front().family == "network";
  TablesAsTheyCome tables(table);
  // Of somebody's own file the answer comes first, and is all.
  const bool leads = input != nullptr && choice.programs.size() == 1 && !options.all;
  const auto start = std::chrono::steady_clock::now();
  bool began = false;
  bool told = false;
  const Results results = run_programs(
      build, choice.programs, request,
      [&](const Results& so_far, std::size_t first, const std::string& printed) {
        // Not before: options that a program refuses give one line only.
        if (!began) {
          std::fprintf(stderr, "halo: %s (%s), seed %llu\n", place_of(choice.backend).c_str(),
                       choice.why.c_str(), static_cast<unsigned long long>(so_far.seed));
        }
        began = true;
        const std::string said =
            printed.starts_with("seed ") ? printed.substr(printed.find('\n') + 1) : printed;
        // What a program says last, of a file that it wrote.
        std::string wrote = last_line(said);
        if (!wrote.starts_with("wrote ")) wrote.clear();
        if (leads && exit_status(rows_from(so_far, first)) == 0) {
          if (tells && said.starts_with("It is a")) {
            print(said.substr(0, said.find("\n\n") + 1) + kDetails);
            told = true;
            return;
          }
          if (!tells) {
            print(render_own_data(rows_from(so_far, first), *input, wrote, table) + kDetails);
            told = true;
            return;
          }
        }
        if (!wrote.empty()) std::fprintf(stderr, "halo: %s\n", wrote.c_str());
        if (value_of(options.passed_on, "--show-output") && !said.empty() && !tells) print(said);
        if (brief) {
          const std::vector<Row> rows = rows_from(so_far, first);
          const std::string stage = rows.empty() ? "" : rows.front().stage;
          print(
              render_stage_line(rows, table,
                                std::count(build.stages().begin(), build.stages().end(), stage) > 0
                                    ? build.short_name(stage)
                                    : ""));
          return;
        }
        told = tells && !printed.empty() && told_all(so_far, first);
        if (!told) {
          print(tables.next(so_far, first));
        } else {
          print(said);
        }
      });
  if (brief && !told && results.end.interrupted == 0) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    print(render_sum(without_layers(results).rows, taken.count(), table) +
          what_next(results, options));
  } else if (!brief && !told) {
    print(tables.end(results));
  }
  if (!brief && !told && !options.search && choice.backend == "sim" &&
      results.end.interrupted == 0) {
    explain_differences(build, choice, options, results);
  }
  // Of a stage as a whole: not of one variant, or of somebody's own problem.
  const bool whole = std::all_of(
      options.passed_on.begin(), options.passed_on.end(),
      [](const auto& option) { return option.first == "--seed" || option.first == "--strict"; });
  if (whole && !options.search && results.end.interrupted == 0) {
    note_runs(build, results);
  }
  save(results, request);
  return run_status(results, is_strict(request));
}

}  // namespace halo
