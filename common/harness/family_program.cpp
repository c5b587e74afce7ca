#include "common/harness/family_program.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <random>

namespace halo {

void add_family_options(CommandLine& line, FamilyOptions& options) {
  line.option("--seed", "S", options.seed, "seed of all random data; a fresh one if not given");
  line.option("--variant", "NAME", options.variant, "only this variant");
  line.option("--json", "FILE", options.out.json, "write the results as JSON");
  line.flag("--no-peers", options.no_peers, "without the libraries and copies beside the variants");
  line.flag("--no-times", options.no_times, "check only: nothing is timed");
  line.flag("--no-trials", options.no_trials,
            "check the named problems alone, not the small ones before them: for profilers");
  line.flag("--list", options.list, "list the variants and stop");
  line.option("--color", "WHEN", options.out.color, "auto, always or never");
}

std::string program_name(int argc, const char* const* argv, const std::string& otherwise) {
  const std::string program = argc > 0 ? argv[0] : otherwise;
  return program.substr(program.find_last_of('/') + 1);
}

std::uint64_t make_seed(const std::string& text) {
  if (text.empty()) return std::random_device{}();
  return static_cast<std::uint64_t>(
      parse_number("seed", text, 0, std::numeric_limits<std::int64_t>::max()));
}

void announce_seed(std::uint64_t seed) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
}

void list_variant(const std::string& name, const std::string& mark, const std::string& description,
                  const std::string& unavailable) {
  std::printf("%-20s %-7s %s\n", name.c_str(), mark.c_str(), description.c_str());
  if (!unavailable.empty()) std::printf("%-28s NOT RUN: %s\n", "", unavailable.c_str());
}

Results begin_results(int argc, const char* const* argv, std::uint64_t seed, Backend& backend,
                      const std::vector<std::string>& versions) {
  Results results = new_results(argc, argv, seed);
  backend.describe(results.machine);
#ifdef __OPTIMIZE__
  results.machine.build = "optimised";
#else
  results.machine.build = "not optimised: times of this build mean little";
#endif
  for (const std::string& version : versions) {
    const std::size_t space = version.find(' ');
    if (space == std::string::npos) continue;
    const std::pair<std::string, std::string> library(version.substr(0, space),
                                                      version.substr(space + 1));
    auto& known = results.machine.libraries;
    // Several peers may be of one library.
    if (std::find(known.begin(), known.end(), library) == known.end()) known.push_back(library);
  }
  return results;
}

void measure_roofs(Results& results, Backend& backend, Progress& progress) {
  progress.show("measuring what this machine can do at most");
  results.machine.roofs = {{backend.name(), backend.measure_roofs()}};
}

void leave_out_times(std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) {
    candidate.batch = {};
    if (candidate.row.time.reason.empty()) candidate.row.time.reason = "--no-times was given";
  }
}

}  // namespace halo
