#include "common/simt/command/reports.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace simt::command {
namespace {

using halo::json::Value;
namespace fs = std::filesystem;

constexpr int kSchemaVersion = 1;

std::string from_here(const std::string& file) {
  if (file.empty()) return file;
  std::error_code ignored;
  const fs::path here = fs::weakly_canonical(fs::current_path(), ignored);
  const fs::path path = fs::weakly_canonical(file, ignored);
  const fs::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

// Messages name places by paths of the machine that compiled.
std::string with_path(std::string message, const std::string& path, const std::string& shorter) {
  for (std::size_t at = 0; !path.empty() && (at = message.find(path + ":", at)) != message.npos;) {
    message.replace(at, path.size(), shorter);
    at += shorter.size();
  }
  return message;
}

report::Rule rule_of(const Value& json) {
  report::Rule rule;
  rule.file = from_here(json.get<std::string>("file"));
  json.at("line").get_to(rule.line);
  json.at("rule").get_to(rule.text);
  json.at("reason").get_to(rule.reason);
  rule.used = json.get_or<std::uint64_t>("used", 1);
  return rule;
}

Merged finding_of(const Value& json, const std::string& program, const std::string& kernel) {
  Merged one{.finding = {}, .program = program, .kernel = kernel, .suppressed = {}};
  Finding& f = one.finding;
  json.at("kind").get_to(f.kind);
  f.note = json.get<std::string>("level") == "note";
  const std::string file = json.get<std::string>("file");
  const std::string other_file = json.get<std::string>("other_file");
  f.file = from_here(file);
  json.at("line").get_to(f.line);
  f.other_file = from_here(other_file);
  json.at("other_line").get_to(f.other_line);
  json.at("array").get_to(f.array);
  json.at("count").get_to(f.count);
  f.message = with_path(json.get<std::string>("message"), file, f.file);
  if (other_file != file) f.message = with_path(f.message, other_file, f.other_file);
  if (!hazard_named(f.kind)) {
    throw halo::json::Error("'" + f.kind + "' is not a kind of finding that this simt knows");
  }
  if (const Value* const rule = json.find("suppressed")) one.suppressed = rule_of(*rule);
  return one;
}

void add(Findings& to, const Merged& one) {
  const Finding& f = one.finding;
  const auto [found, is_new] =
      to.try_emplace({f.kind, f.file, f.line, f.other_file, f.other_line, f.array}, one);
  if (is_new) return;
  found->second.finding.count += f.count;
  // Of one kernel it is meant to be so, of another not: then it is not.
  if (!one.suppressed) found->second.suppressed.reset();
}

void add_rule(std::vector<report::Rule>& to, const report::Rule& rule) {
  const auto is_same = [&](const report::Rule& other) {
    return std::tie(rule.file, rule.line, rule.text) ==
           std::tie(other.file, other.line, other.text);
  };
  const auto found = std::find_if(to.begin(), to.end(), is_same);
  if (found == to.end()) {
    to.push_back(rule);
  } else {
    found->used += rule.used;
  }
}

void read_report(const std::string& name, Reports& to) {
  std::ifstream file(name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) {
    throw std::runtime_error("cannot be read: has a program with SIMT_REPORT launched a kernel?");
  }
  const Value json = Value::parse(text);
  if (json.find("launches") == nullptr || json.get<int>("schema_version") != kSchemaVersion) {
    throw std::runtime_error("is not a report (schema_version " + std::to_string(kSchemaVersion) +
                             ") of SIMT_REPORT");
  }
  const std::string program = from_here(json.get<std::string>("program"));
  for (const Value& launch : json.at("launches").elements()) {
    const std::string kernel = launch.get<std::string>("kernel");
    Findings& its = to.kernels[{program, kernel}];
    for (const Value& one : launch.at("findings").elements())
      add(its, finding_of(one, program, kernel));
  }
  if (json.find("coverage") == nullptr) to.cut_short.push_back(name);
  if (const Value* const rules = json.find("suppressions")) {
    for (const Value& rule : rules->elements()) add_rule(to.rules, rule_of(rule));
  } else {
    for (const Value& launch : json.at("launches").elements()) {
      for (const Value& one : launch.at("findings").elements()) {
        if (const Value* const rule = one.find("suppressed")) add_rule(to.rules, rule_of(*rule));
      }
    }
  }
}

}  // namespace

std::vector<Merged> Reports::findings() const {
  Findings all;
  for (const auto& [names, its] : kernels) {
    for (const auto& [place, one] : its) add(all, one);
  }
  std::vector<Merged> sorted;
  for (auto& [place, one] : all) sorted.push_back(std::move(one));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Merged& a, const Merged& b) {
    return std::tie(a.finding.file, a.finding.line) < std::tie(b.finding.file, b.finding.line);
  });
  return sorted;
}

Reports read_reports(const std::vector<std::string>& files) {
  Reports reports;
  for (const std::string& file : files) {
    try {
      read_report(file, reports);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(file + ": " + error.what());
    }
  }
  return reports;
}

}  // namespace simt::command
