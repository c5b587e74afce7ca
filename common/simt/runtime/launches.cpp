#include "common/simt/runtime/launches.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "common/json/json.hpp"
#include "common/simt/runtime/settings.hpp"

namespace simt {
namespace {

using halo::json::Value;

struct State {
  std::mutex mutex;
  std::vector<Launch> launches;   // not yet taken
  Value report = Value::array();  // all, when SIMT_REPORT asks for them
  std::set<std::tuple<std::string, std::string, int, std::string, int, std::string>> printed;
  bool program_reads_findings = false;
  bool had_findings = false;
};

State& state() {
  static State& instance = *new State;
  return instance;
}

Value to_json(const Counters& counters) {
  Value json = Value::object();
  for (const CounterField& field : counter_fields()) json[field.name] = counters.*field.member;
  return json;
}

Value to_json(const Launch& launch) {
  Value lines = Value::array();
  for (const LineCounters& line : launch.lines) {
    lines.push_back(Value::object(
        {{"file", line.file}, {"line", line.line}, {"counters", to_json(line.counters)}}));
  }
  Value findings = Value::array();
  for (const Finding& f : launch.findings) {
    findings.push_back(Value::object({{"kind", f.kind},
                                      {"file", f.file},
                                      {"line", f.line},
                                      {"other_file", f.other_file},
                                      {"other_line", f.other_line},
                                      {"block", f.block},
                                      {"thread", f.thread},
                                      {"array", f.array},
                                      {"count", f.count},
                                      {"message", f.message}}));
  }
  return Value::object({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"shared_bytes", launch.shared_bytes},
                        {"counters", to_json(launch.counters)},
                        {"lines", lines},
                        {"findings", findings}});
}

// Writes beside the target and renames: a reader never sees half a report.
void write_report(const std::string& path, const Value& launches) {
  const std::string text =
      Value::object({{"schema_version", 1}, {"launches", launches}}).dump(1) + "\n";
  const std::string temporary = path + ".part" + std::to_string(getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    std::fprintf(stderr,
                 "simt: cannot write the report SIMT_REPORT=%s: check that its folder exists "
                 "and is writable\n",
                 path.c_str());
    std::_Exit(2);
  }
}

void print_findings(State& s, const Launch& launch) {
  for (const Finding& f : launch.findings) {
    if (!s.printed.emplace(f.kind, f.file, f.line, f.other_file, f.other_line, f.array).second) {
      continue;
    }
    std::fprintf(stderr, "%s:%d: %s: %s%s in %s: %s (%llu time%s)\n", f.file.c_str(), f.line,
                 f.is_note() ? "note" : "error", f.kind.c_str(),
                 f.array.empty() ? "" : (" of " + f.array).c_str(), launch.kernel.c_str(),
                 f.message.c_str(), static_cast<unsigned long long>(f.count),
                 f.count == 1 ? "" : "s");
  }
}

// Registered first, so it runs last: output is flushed and the user's own handlers have run.
__attribute__((constructor(101))) void watch_exit() {
  std::atexit([] {
    State& s = state();
    if (!s.had_findings || s.program_reads_findings) return;
    std::fflush(nullptr);
    _exit(3);
  });
}

}  // namespace

void record_launch(Launch launch) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  for (const Finding& f : launch.findings) s.had_findings |= !f.is_note();
  if (!s.program_reads_findings) print_findings(s, launch);
  if (!settings().report_path.empty()) {
    s.report.push_back(to_json(launch));
    write_report(settings().report_path, s.report);
  }
  // A program that never asks must not collect launches without end.
  if (s.program_reads_findings || s.launches.size() < 10'000)
    s.launches.push_back(std::move(launch));
}

std::vector<Launch> take_launches() {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.program_reads_findings = true;
  return std::exchange(s.launches, {});
}

}  // namespace simt
