// `halo list` and `halo doctor`: what is here.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "common/build/gpu.hpp"
#include "common/cli/commands.hpp"
#include "common/cli/last_runs.hpp"
#include "common/exercise/attempt.hpp"
#include "common/exercise/standing.hpp"
#include "common/process/process.hpp"
#include "common/report/command_line.hpp"
#include "common/report/table.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// What the course says of a stage: stages/course.csv, whose last column is a title, and the third the page.
struct Lesson {
  std::string page;
  std::string title;
};
std::map<std::string, Lesson> read_course(const fs::path& source) {
  std::map<std::string, Lesson> course;
  std::ifstream stream(source / "stages" / "course.csv");
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> fields = split(line);
    if (fields.size() >= 5) course[fields[0]] = {"docs/" + fields[2] + ".md", fields[4]};
  }
  return course;
}

// The variants of a stage: what its program lists, or, until it is built, those that its sources say how to run.
std::vector<std::string> variants_of(const BuildFolder& build, const std::string& stage) {
  std::vector<std::string> names;
  for (const Program& program : build.programs()) {
    if (program.name != stage || !fs::exists(program.path)) continue;
    program.choose_runtime();
    const Ended ended = run_program({program.path.string(), "--list"});
    std::istringstream lines(ended.good() ? ended.out : "");
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, mark;
      words >> name >> mark;
      if (!line.empty() && line[0] != ' ' && mark != "peer" && mark != "copy")
        names.push_back(name);
    }
    if (!names.empty()) return names;
  }
  std::vector<fs::path> sources;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(build.source() / "stages" / stage, unreadable)) {
    sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  for (const fs::path& source : sources) {
    std::ifstream stream(source);
    for (std::string line; std::getline(stream, line);) {
      constexpr std::string_view kOption = " --variant ";
      const std::size_t at = line.find(kOption);
      if (!line.starts_with("// Run ") || at == std::string::npos) continue;
      std::istringstream words(line.substr(at + kOption.size()));
      std::string name;
      words >> name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

bool built_for(const BuildFolder& build, const std::string& backend) {
  const auto& programs = build.programs();
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program& p) { return p.backend == backend; });
}

// The first line of what `program --version` says; empty if it is not there.
std::string version_of(const std::string& program, const std::string& containing = "") {
  const Ended ended = run_program({program, "--version"});
  if (!ended.good()) return "";
  std::string first;
  std::size_t at = 0;
  while (at < ended.out.size()) {
    const std::size_t end = std::min(ended.out.find('\n', at), ended.out.size());
    first = ended.out.substr(at, end - at);
    if (containing.empty() || first.find(containing) != std::string::npos) return first;
    at = end + 1;
  }
  return first;
}

void print_line(const std::string& name, const std::string& found, const std::string& cost) {
  std::printf("  %-14s %s\n", name.c_str(),
              found.empty() ? ("missing: " + cost).c_str() : found.c_str());
}

// How well `halo grade` would keep a student's program.
void print_sandbox(const BuildFolder& build) {
  if (!build.makes(sandbox_program(build))) return;
  try {
    const Sandbox sandbox = open_sandbox(build, "auto");
    std::string text = std::string(to_string(sandbox.level())) + " (" + sandbox.made_of() + ")";
    if (!sandbox.why_not_more().empty()) text += "; no better one: " + sandbox.why_not_more();
    print_line("sandbox", text, "");
  } catch (const std::runtime_error& error) {
    print_line("sandbox", "", error.what());
  }
}

// One line of a list; what the terminal has no room for stands below it.
void print_item(const std::string& text, const TableOptions& options) {
  std::printf("%s\n", wrapped(text, options, "    ").c_str());
}

// The exercises below the stages. A list is no place to complain of them.
void list_exercises(const BuildFolder& build, const TableOptions& options) {
  try {
    const Exercises exercises(build.source());
    const auto records = ProgressFile(exercises.folder()).read();
    print_item("exercises (./halo watch):", options);
    for (const Exercise& exercise : exercises.all()) {
      const auto known = records.find(exercise.name);
      print_item(exercise.number + "  " + exercise.title + ", " +
                     standing_of(known == records.end() ? ExerciseRecord() : known->second),
                 options);
    }
  } catch (const std::runtime_error&) {
  }
}

}  // namespace

int list_stages(const BuildFolder& build) {
  constexpr int kWidth = 78;
  const TableOptions options = table_options("never", stdout);
  TableOptions of_variants = options;  // the same in all wide terminals
  of_variants.width = options.width == 0 ? kWidth : std::min(options.width, kWidth);
  const std::map<std::string, Lesson> course = read_course(build.source());
  Table table;
  table.columns = {{"#", false}, {"stage", false}, {"what", false}, {"last run here", false}};
  std::vector<std::string> variants;
  std::string next;
  for (const std::string& stage : build.stages()) {
    const auto lesson = course.find(stage);
    const std::string state = last_run(build, stage);
    if (next.empty() && !state.starts_with("ok")) next = stage;
    table.rows.push_back({{build.short_name(stage)},
                          {stage.substr(3)},
                          {lesson == course.end() ? "" : lesson->second.title},
                          {state.empty() ? "not yet" : state}});
    std::string names;
    for (const std::string& name : variants_of(build, stage)) {
      names += (names.empty() ? "    " : " ") + name;
    }
    variants.push_back(wrapped(names, of_variants, "    ") + (names.empty() ? "" : "\n"));
  }
  std::istringstream lines(lay_out(table, {}));
  std::string line;
  for (std::size_t row = 0; std::getline(lines, line); ++row) {  // the first is the header
    print_item(line, options);
    if (row > 0) std::fputs(variants.at(row - 1).c_str(), stdout);
  }
  list_exercises(build, options);
  if (next.empty()) {
    print_item("next: ./halo bench   all stages side by side", options);
  } else if (const auto lesson = course.find(next); lesson != course.end()) {
    print_item("next: read " + lesson->second.page + ", then ./halo run " + build.short_name(next),
               options);
  } else {
    print_item("next: ./halo run " + build.short_name(next), options);
  }
  return 0;
}

int run_doctor(const BuildFolder& build) {
  const Gpu gpu = find_gpu();
  const bool sim = built_for(build, "sim");
  const bool gpu_programs = built_for(build, "gpu");

  const bool on_gpu = gpu.found && gpu_programs;
  const std::string no_gpu = gpu.found ? "nvcc was not found" : gpu.reason;
  if (on_gpu && sim) {
    std::printf("ready: check and times on the GPU, hazards and traffic on the simulator.\n");
  } else if (on_gpu) {
    std::printf(
        "ready: check and times on the GPU. Not possible here: hazards and traffic (no "
        "simulator is built).\n");
  } else if (sim) {
    std::printf(
        "ready: check, hazards and traffic on the simulator. Not possible here: times on a "
        "GPU (%s).\n",
        no_gpu.c_str());
  } else {
    std::printf("not ready: no simulator is built, and no GPU can be used (%s).\n", no_gpu.c_str());
  }
  std::printf("next: %s\n\n", sim || on_gpu
                                  ? "./halo list   the stages      ./halo run 04   one of them"
                                  : "install what is missing below, then ./halo doctor");
  std::printf("What runs here\n");
  print_line("simulator", sim ? "yes" : "",
             "needs nvcc 13+ (./halo toolkit installs it), libzstd and libbacktrace");
  print_line("GPU", gpu.found ? gpu.name : "", gpu.reason);
  print_line("GPU driver", gpu.driver, "nothing can run with --on gpu");

  print_sandbox(build);

  std::printf("\nTools\n");
  print_line("g++", version_of("g++"), "nothing can be built");
  const std::string nvcc = HALO_NVCC;
  print_line("nvcc", nvcc.empty() ? "" : version_of(nvcc, "release") + ", " + nvcc,
             "no kernel can be built (./halo toolkit)");
  print_line("meson", version_of("meson"), "nothing can be set up or tested");
  print_line("ninja", version_of("ninja"), "nothing can be built");
  print_line("mkdocs", version_of("mkdocs"),
             "no ./halo docs (packages mkdocs and mkdocs-material)");
  print_line("clang-format", version_of("clang-format"), "style is not checked by .ci/run");

  struct Known {
    const char* name;      // what people call it
    const char* in_meson;  // what Meson calls it
    const char* package;
    const char* cost;
  };
  const Known known[] = {
      {"libzstd", "libzstd", "libzstd-dev", "no simulator"},
      {"libsndfile", "sndfile", "libsndfile1-dev", "no WAV files with --input and --output"},
      {"libpng", "libpng", "libpng-dev", "no PNG files with --input and --output"},
      {"libarchive", "libarchive", "libarchive-dev", "no submissions as .zip and .tar"},
      {"libseccomp", "libseccomp", "libseccomp-dev", "no filter of system calls in the sandbox"},
      {"Catch2", "catch2", "catch2", "no ./halo test"},
  };
  std::printf("\nLibraries\n");
  const std::vector<Library> libraries = build.libraries();
  for (const Known& one : known) {
    std::string found;
    for (const Library& library : libraries) {
      std::string name = library.name;
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (name == one.in_meson) found = library.version.empty() ? "found" : library.version;
    }
    print_line(one.name, found, std::string(one.cost) + " (package " + one.package + ")");
  }
  std::printf("\nBuild folder   %s\n", build.path().c_str());
  return sim || (gpu.found && gpu_programs) ? 0 : 77;
}

}  // namespace halo
