// `halo list` and `halo doctor`: what is here.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "common/cli/commands.hpp"
#include "common/cli/gpu.hpp"
#include "common/cli/process.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

// The title of a stage's page: its first heading. A second folder of the same number shares the page of
// the first.
std::string title_of(const fs::path& pages, const std::string& stage) {
  fs::path page = pages / (stage + ".md");
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(pages, unreadable)) {
    if (fs::exists(page)) break;
    const std::string name = entry.path().filename();
    if (name.starts_with(stage.substr(0, 3)) && name.ends_with(".md")) page = entry.path();
  }
  std::ifstream stream(page);
  for (std::string line; std::getline(stream, line);) {
    if (line.compare(0, 2, "# ") == 0) return line.substr(2);
  }
  return "";
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

}  // namespace

int list_stages(const BuildFolder& build) {
  for (const std::string& stage : build.stages()) {
    std::string backends;
    for (const Program& program : build.programs()) {
      if (program.name == stage) backends += (backends.empty() ? "" : ",") + program.backend;
    }
    std::printf("%-26s %-8s %s\n", stage.c_str(), backends.c_str(),
                title_of(build.source() / "docs", stage).c_str());
  }
  return 0;
}

int run_doctor(const BuildFolder& build) {
  const Gpu gpu = find_gpu();
  const bool sim = built_for(build, "sim");
  const bool gpu_programs = built_for(build, "gpu");

  std::printf("What runs here\n");
  print_line("simulator", sim ? "yes" : "", "needs g++ 12+, Boost.Context and libbacktrace");
  print_line("GPU programs", gpu_programs ? "yes" : "",
             "needs nvcc; nothing can run with --on gpu");
  print_line("GPU", gpu.found ? gpu.name : "", gpu.reason);
  print_line("GPU driver", gpu.driver, "nothing can run with --on gpu");

  std::printf("\nTools\n");
  print_line("g++", version_of("g++"), "nothing can be built, and simcc cannot work");
  print_line("nvcc", version_of("nvcc", "release"), "no GPU programs");
  print_line("meson", version_of("meson"), "nothing can be set up or tested");
  print_line("ninja", version_of("ninja"), "nothing can be built");
  print_line("clang-format", version_of("clang-format"), "style is not checked by .ci/run");

  struct Known {
    const char* name;      // what people call it
    const char* in_meson;  // what Meson calls it
    const char* package;
    const char* cost;
  };
  const Known known[] = {
      {"nlohmann-json", "nlohmann_json", "nlohmann-json3-dev", "nothing can be built"},
      {"CLI11", "cli11", "libcli11-dev", "nothing can be built"},
      {"Boost.Context", "boost", "libboost-context-dev", "no simulator"},
      {"libsndfile", "sndfile", "libsndfile1-dev", "no WAV files with --input and --output"},
      {"libpng", "libpng", "libpng-dev", "no PNG files with --input and --output"},
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
