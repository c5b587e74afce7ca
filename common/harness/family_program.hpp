// What the programs of all families do alike: the options that each has, the choice of variants, and
// what a run begins and ends with. Private to the harness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/backend.hpp"
#include "common/harness/program.hpp"
#include "common/report/command_line.hpp"

namespace halo {

struct FamilyOptions {
  std::string seed;
  std::string variant;
  bool no_peers = false;
  bool no_times = false;
  bool no_trials = false;
  bool list = false;
  OutputOptions out;
};

// --seed, --variant, --json, --no-peers, --no-times, --no-trials, --list, --color.
void add_family_options(CommandLine& line, FamilyOptions& options);

// The file's name, from how the program was called.
std::string program_name(int argc, const char* const* argv, const std::string& otherwise);

// The seed that was given, or a fresh one.
std::uint64_t make_seed(const std::string& text);

// Before the first launch: a run that ends badly can be repeated.
void announce_seed(std::uint64_t seed);

// One line of --list, and another if the variant can't be run. `mark`: what is said of it besides.
void list_variant(const std::string& name, const std::string& mark, const std::string& description,
                  const std::string& unavailable);

// What the program is about, for people.
template <class Stage>
std::string title(const std::vector<Stage>& stages) {
  if (stages.size() == 1) return stages.front().name;
  return stages.front().name + " to " + stages.back().name;
}

// Leaves the variant of this name; all if it is empty. `where` ends the complaint that there is none.
template <class Entry>
void keep_variant(std::vector<Entry>& entries, const std::string& name, const std::string& where) {
  if (name.empty()) return;
  std::string names;
  for (const Entry& entry : entries) names += " " + entry.variant.name;
  std::erase_if(entries, [&](const Entry& entry) { return entry.variant.name != name; });
  if (entries.empty()) {
    throw UsageError("variant '" + name + "' is not in stage " + where + "; it has:" + names);
  }
}

// Results without rows: the machine, its build, and the libraries' versions ("cuDNN 9.14.0", or
// empty).
Results begin_results(int argc, const char* const* argv, std::uint64_t seed, Backend& backend,
                      const std::vector<std::string>& versions);

// Measures the backend's roofs into the results' machine.
void measure_roofs(Results& results, Backend& backend, Progress& progress);

// --no-times.
void leave_out_times(std::vector<Candidate>& candidates);

}  // namespace halo
