#include "common/simt/cudart/record.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/simt/cudart/coverage.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/report/json.hpp"

namespace simt {
namespace {

struct Finished {
  std::mutex mutex;
  std::vector<Launch> launches;  // not yet taken
  Report report{settings().report_path};
  std::set<std::tuple<std::string, std::string, int, std::string, int, std::string>> printed;
  std::atomic<bool> program_reads_findings{false};
  bool had_findings = false;
};

Finished& finished() {
  static Finished& instance = *new Finished;
  return instance;
}

void print_findings(Finished& s, const Launch& launch) {
  for (const Finding& f : launch.findings) {
    if (!s.printed.emplace(f.kind, f.file, f.line, f.other_file, f.other_line, f.array).second) {
      continue;
    }
    const std::string place = f.file.empty() ? "simt" : f.file + ":" + std::to_string(f.line);
    std::fprintf(stderr, "%s: %s: %s%s in %s: %s (%llu time%s)\n", place.c_str(),
                 f.is_note() ? "note" : "error", f.kind.c_str(),
                 f.array.empty() ? "" : (" of " + f.array).c_str(), launch.kernel.c_str(),
                 f.message.c_str(), static_cast<unsigned long long>(f.count),
                 f.count == 1 ? "" : "s");
  }
}

// Registered first, so it runs last: output is flushed and the user's own handlers have run.
__attribute__((constructor(101))) void watch_exit() {
  std::atexit([] {
    Finished& s = finished();
    if (s.report.has_begun()) s.report.end(whole_coverage(), live_allocations());
    if (!s.had_findings || s.program_reads_findings) return;
    std::fflush(nullptr);
    _exit(3);
  });
}

}  // namespace

void record_launch(Launch launch) {
  Finished& s = finished();
  std::lock_guard lock(s.mutex);
  for (const Finding& f : launch.findings) s.had_findings |= !f.is_note();
  if (!s.program_reads_findings) print_findings(s, launch);
  if (!settings().report_path.empty()) s.report.add(launch);
  // A program that never asks must not collect launches without end.
  if (s.program_reads_findings || s.launches.size() < 10'000)
    s.launches.push_back(std::move(launch));
}

bool program_reads_findings() { return finished().program_reads_findings; }

std::vector<Launch> take_launches() {
  Finished& s = finished();
  std::lock_guard lock(s.mutex);
  s.program_reads_findings = true;
  return std::exchange(s.launches, {});
}

std::string short_name(const std::string& kernel) {
  // Without arguments and template arguments: cut at the first bracket that opens none of a namespace.
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name = kernel;
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;) {
    name.erase(at, kUnnamed.size());
  }
  name = name.substr(0, name.find_first_of("<("));
  name = name.substr(name.rfind(' ') + 1);
  return name.substr(name.rfind(':') + 1);
}

}  // namespace simt
