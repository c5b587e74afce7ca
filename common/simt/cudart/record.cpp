#include "common/simt/cudart/record.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "common/simt/cudart/calls.hpp"
#include "common/simt/cudart/coverage.hpp"
#include "common/simt/cudart/settings.hpp"
#include "common/simt/cudart/waiting.hpp"
#include "common/simt/report/json.hpp"
#include "common/simt/report/verdict.hpp"

namespace simt {
namespace {

// Of each finding of a launch; null: nothing suppresses it.
using Suppressing = std::vector<report::Rule*>;

struct Finished {
  std::mutex mutex;
  std::vector<Launch> launches;  // not yet taken
  Report report{settings().report_path, settings().seal};
  std::set<std::tuple<std::string, std::string, int, std::string, int, std::string>> printed;
  std::atomic<bool> program_reads_findings{false};
  bool has_launched = false;
  bool is_to_fail = false;
};

Finished& finished() {
  static Finished& instance = *new Finished;
  return instance;
}

Suppressing suppressing(const Launch& launch) {
  Suppressing rules;
  for (const Finding& f : launch.findings) {
    const auto is_for = [&](const report::Rule& rule) { return rule.is_for(f, launch.kernel); };
    auto& all = settings().suppressions;
    const auto found = std::find_if(all.begin(), all.end(), is_for);
    rules.push_back(found == all.end() ? nullptr : &*found);
    if (rules.back() != nullptr) ++rules.back()->used;
  }
  return rules;
}

void print_findings(Finished& s, const Launch& launch, const Suppressing& rules) {
  for (std::size_t i = 0; i < launch.findings.size(); ++i) {
    const Finding& f = launch.findings[i];
    if (rules[i] != nullptr) continue;
    if (!s.printed.emplace(f.kind, f.file, f.line, f.other_file, f.other_line, f.array).second) {
      continue;
    }
    std::fprintf(stderr, "%s\n", report::told(f, launch.kernel).c_str());
  }
}

// At the end, so that nothing is hidden in silence. Of many programs `simt findings` tells what none has used.
void print_suppressions() {
  std::uint64_t used = 0;
  for (const report::Rule& rule : settings().suppressions) {
    used += rule.used;
    if (rule.used == 0 && settings().report_path.empty()) {
      std::fprintf(stderr, "%s\n", report::told_unused(rule).c_str());
    }
  }
  if (used > 0) {
    std::fprintf(stderr, "simt: %llu finding%s suppressed by %s\n",
                 static_cast<unsigned long long>(used), used == 1 ? " is" : "s are",
                 settings().suppressions.front().file.c_str());
  }
}

// Registered first, so it runs last: output is flushed and the user's own handlers have run.
__attribute__((constructor(101))) void watch_exit() {
  std::atexit([] {
    {
      const std::lock_guard lock(cudart::turn());
      cudart::waiting::end();
    }
    Finished& s = finished();
    if (s.report.has_begun()) {
      s.report.end(whole_coverage(), live_allocations(), settings().suppressions);
    }
    if (s.program_reads_findings) return;
    if (s.has_launched) print_suppressions();
    if (!s.is_to_fail) return;
    std::fflush(nullptr);
    _exit(3);
  });
}

}  // namespace

void record_of_host(Finding finding) {
  Launch launch;
  launch.kernel = "host code";
  launch.findings.push_back(std::move(finding));
  record_launch(std::move(launch));
}

void record_launch(Launch launch) {
  Finished& s = finished();
  std::lock_guard lock(s.mutex);
  s.has_launched = true;
  const Suppressing rules = suppressing(launch);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    s.is_to_fail |= rules[i] == nullptr && settings().fail_on.fails(launch.findings[i]);
  }
  if (!s.program_reads_findings) print_findings(s, launch, rules);
  if (!settings().report_path.empty()) s.report.add(launch, {rules.begin(), rules.end()});
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

}  // namespace simt
