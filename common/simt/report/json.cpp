#include "common/simt/report/json.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "common/json/json.hpp"

namespace simt {
namespace {

using halo::json::Value;

constexpr std::string_view kBetween = ",\n";
constexpr std::string_view kEnd = "\n ]\n}\n";

Value to_json(const Counters& counters) {
  Value json = Value::object();
  for (const CounterField& field : counter_fields()) {
    if (field.is_told(counters)) json[field.name] = counters.*field.member;
  }
  return json;
}

Value to_json(const report::Rule& rule) {
  return Value::object(
      {{"file", rule.file}, {"line", rule.line}, {"rule", rule.text}, {"reason", rule.reason}});
}

Value to_json(const Launch& launch, const std::vector<const report::Rule*>& suppressing) {
  Value lines = Value::array();
  for (const LineCounters& line : launch.lines) {
    Value json = Value::object(
        {{"file", line.file}, {"line", line.line}, {"counters", to_json(line.counters)}});
    if (line.fp64_operations > 0) json["fp64_operations"] = line.fp64_operations;
    if (line.tensor_instructions > 0) json["tensor_instructions"] = line.tensor_instructions;
    if (line.local_sectors > 0) json["local_sectors"] = line.local_sectors;
    lines.push_back(std::move(json));
  }
  Value findings = Value::array();
  for (std::size_t i = 0; i < launch.findings.size(); ++i) {
    const Finding& f = launch.findings[i];
    Value json = Value::object({{"kind", f.kind},
                                {"level", f.is_note() ? "note" : "error"},
                                {"file", f.file},
                                {"line", f.line},
                                {"other_file", f.other_file},
                                {"other_line", f.other_line},
                                {"block", f.block},
                                {"thread", f.thread},
                                {"array", f.array},
                                {"count", f.count},
                                {"message", f.message}});
    if (f.other) {
      json["other_block"] = f.other->block;
      json["other_thread"] = f.other->thread;
    }
    if (suppressing[i] != nullptr) json["suppressed"] = to_json(*suppressing[i]);
    findings.push_back(std::move(json));
  }
  return Value::object({{"kernel", launch.kernel},
                        {"grid", launch.grid},
                        {"block", launch.block},
                        {"shared_bytes", launch.shared_bytes},
                        {"most_requests", launch.other.most_requests},
                        {"counters", to_json(launch.counters)},
                        {"lines", std::move(lines)},
                        {"findings", std::move(findings)}});
}

Value to_json(const Coverage& coverage) {
  Value kernels = Value::array();
  for (const KernelCoverage& kernel : coverage.kernels) {
    kernels.push_back(Value::object({{"kernel", kernel.kernel}, {"launches", kernel.launches}}));
  }
  Value files = Value::array();
  for (const FileCoverage& file : coverage.files) {
    Value unreached = Value::array();
    int first = 0;  // of lines that were not reached, one after the other
    int last = 0;
    const auto end_range = [&] {
      if (first != 0) unreached.push_back(std::array{first, last});
      first = 0;
    };
    for (const LineCoverage& line : file.lines) {
      if (line.reached) {
        end_range();
      } else {
        if (first == 0) first = line.line;
        last = line.line;
      }
    }
    end_range();
    Value untaken = Value::array();
    for (const BranchCoverage& way : file.branches) {
      if (way.taken) continue;
      untaken.push_back(Value::object({{"line", way.line},
                                       {"column", way.column},
                                       {"to_line", way.to_line},
                                       {"again", way.again}}));
    }
    files.push_back(Value::object({{"file", file.file},
                                   {"lines", file.lines.size()},
                                   {"unreached", std::move(unreached)},
                                   {"untaken", std::move(untaken)}}));
  }
  return Value::object({{"kernels", std::move(kernels)}, {"files", std::move(files)}});
}

Value to_json(const std::vector<LiveAllocation>& unfreed) {
  Value json = Value::array();
  for (const LiveAllocation& block : unfreed) {
    json.push_back(Value::object({{"name", block.name},
                                  {"bytes", block.bytes},
                                  {"file", block.file},
                                  {"line", block.line}}));
  }
  return json;
}

// Arrays are told once, and lanes of a request as runs of [lane, count, array, offset, stride].
Value to_json(const Trace& trace) {
  Value arrays = Value::array();
  std::map<const TracedArray*, std::size_t> numbers;
  Value warps = Value::array();
  for (const TracedWarp& warp : trace.warps) {
    Value requests = Value::array();
    for (const TracedRequest& request : warp.requests) {
      Value lanes = Value::array();
      for (const LaneRun& run : request.lanes) {
        const auto [number, is_new] = numbers.try_emplace(run.array, numbers.size());
        if (is_new) {
          Value array = Value::object({{"name", run.array->name},
                                       {"space", run.array->space},
                                       {"bytes", run.array->bytes},
                                       {"phase", run.array->phase}});
          const auto loads = trace.fewest_load_sectors.find(run.array);
          if (loads != trace.fewest_load_sectors.end()) {
            array["fewest_load_sectors"] = loads->second;
          }
          const auto map = trace.maps.find(run.array);
          if (map != trace.maps.end()) {
            array["loads"] = map->second.loads;
            array["stores"] = map->second.stores;
          }
          arrays.push_back(std::move(array));
        }
        lanes.push_back(std::array<std::int64_t, 5>{run.lane, run.count,
                                                    static_cast<std::int64_t>(number->second),
                                                    run.offset, run.stride});
      }
      requests.push_back(Value::object({{"step", request.step},
                                        {"kind", request.kind},
                                        {"file", request.file},
                                        {"line", request.line},
                                        {"bytes", request.bytes},
                                        {"taken", request.taken},
                                        {"fewest", request.fewest},
                                        {"lanes", std::move(lanes)}}));
    }
    warps.push_back(Value::object({{"block", warp.block},
                                   {"warp", warp.warp},
                                   {"steps", warp.steps},
                                   {"requests", std::move(requests)}}));
  }
  Value lines = Value::array();
  for (const TracedLine& line : trace.lines) {
    Value fewest = Value::object();
    for (const auto& [name, value] : {std::pair{"global_load_sectors", line.fewest_load_sectors},
                                      {"global_store_sectors", line.fewest_store_sectors},
                                      {"constant_load_requests", line.fewest_constant_loads}}) {
      if (value > 0) fewest[name] = value;
    }
    lines.push_back(Value::object({{"file", line.file},
                                   {"line", line.line},
                                   {"fewest", std::move(fewest)},
                                   {"requests", line.requests},
                                   {"lanes", line.lanes},
                                   {"first", line.first},
                                   {"middle", line.middle},
                                   {"worst", line.worst}}));
  }
  return Value::object(
      {{"arrays", std::move(arrays)}, {"warps", std::move(warps)}, {"lines", std::move(lines)}});
}

// As it stands in the report: two levels in. A line break in a string is written as "\n", so each one
// in the text begins a line.
std::string entry_of(const Launch& launch, const std::vector<const report::Rule*>& suppressing) {
  std::string text = to_json(launch, suppressing).dump(1);
  // On one line: it is not for people, and has a thousand numbers.
  if (launch.trace) {
    text.replace(text.rfind("\n}"), 2, ",\n \"trace\": " + to_json(*launch.trace).dump() + "\n}");
  }
  std::string entry = "  ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find('\n', at);
    if (next == std::string::npos) return entry.append(text, at);
    entry.append(text, at, next - at).append("\n  ");
    at = next + 1;
  }
  return entry;
}

bool write_at(int file, std::string_view text, long long at) {
  while (!text.empty()) {
    const ssize_t written = pwrite(file, text.data(), text.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return true;
}

// As the house has it for results that could not be written.
constexpr int kNotWritten = 74;

[[noreturn]] void give_up(const std::string& path) {
  std::fprintf(stderr,
               "simt: cannot write the report SIMT_REPORT=%s: check that its folder exists, "
               "is writable and has room\n",
               path.c_str());
  std::_Exit(kNotWritten);
}

}  // namespace

std::string json_of(const std::vector<Launch>& launches) {
  Value all = Value::array();
  for (const Launch& launch : launches) {
    Value entry = to_json(launch, std::vector<const report::Rule*>(launch.findings.size()));
    entry["printed"] = launch.printed.lines;
    entry["printed_lines"] = launch.printed.total;
    all.push_back(std::move(entry));
  }
  return all.dump();
}

std::string json_of(Coverage coverage) {
  for (FileCoverage& file : coverage.files) {
    std::erase_if(file.lines, [](const LineCoverage& one) { return !one.launched; });
    std::erase_if(file.branches, [](const BranchCoverage& one) { return !one.launched; });
  }
  return to_json(coverage).dump();
}

void Report::add(const Launch& launch, const std::vector<const report::Rule*>& suppressing) {
  const std::string entry = entry_of(launch, suppressing);
  if (file_ < 0) {
    begin("{\n \"schema_version\": 1,\n \"program\": " + Value(program_invocation_name).dump() +
              ",\n \"launches\": [\n" + entry,
          kEnd);
  } else {
    append(std::string(kBetween) + entry, kEnd);
  }
}

void Report::end(const Coverage& coverage, const std::vector<LiveAllocation>& unfreed,
                 const std::vector<report::Rule>& suppressions) {
  std::string text = "\n ],\n \"coverage\": " + to_json(coverage).dump() +
                     ",\n \"unfreed\": " + to_json(unfreed).dump();
  if (!suppressions.empty()) {
    Value rules = Value::array();
    for (const report::Rule& rule : suppressions) {
      Value json = to_json(rule);
      json["used"] = rule.used;
      rules.push_back(std::move(json));
    }
    text += ",\n \"suppressions\": " + rules.dump();
  }
  if (seal_.empty()) return append("", text + "\n}\n");
  close(file_);
  begin(all_ + text + ",\n \"seal\": " + Value(seal_).dump() + "\n}\n", "");
}

void Report::begin(const std::string& text, std::string_view end) {
  const std::string temporary = path_ + ".part" + std::to_string(getpid());
  file_ = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0 || !write_at(file_, text + std::string(end), 0) ||
      std::rename(temporary.c_str(), path_.c_str()) != 0) {
    std::remove(temporary.c_str());
    give_up(path_);
  }
  end_ = static_cast<long long>(text.size());
  if (!seal_.empty()) all_ = text;
}

void Report::append(const std::string& text, std::string_view end) {
  flock(file_, LOCK_EX);  // where files cannot be locked, a reader may see half an entry
  const bool good = write_at(file_, text + std::string(end), end_);
  if (!good) {
    // Without what came of this launch; the brackets had room before.
    if (ftruncate(file_, end_) != 0 || !write_at(file_, kEnd, end_)) std::remove(path_.c_str());
    give_up(path_);
  }
  end_ += static_cast<long long>(text.size());
  if (!seal_.empty()) all_ += text;
  flock(file_, LOCK_UN);
}

}  // namespace simt
