// What the reports of a test run say (SIMT_REPORT, one of each program), put together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/json/json.hpp"
#include "common/simt/report/verdict.hpp"

namespace simt::command {

/// A finding, of all launches that have it.
struct Merged {
  Finding finding;
  std::string program, kernel;             // the first that has it
  std::optional<report::Rule> suppressed;  // by this rule, wherever it was seen
};

/// Where a finding is: kind, file, line, the other file and line, array.
using Place = std::tuple<std::string, std::string, int, std::string, int, std::string>;
using Findings = std::map<Place, Merged>;

struct Reports {
  /// Of each kernel of a program that was launched, by both names.
  std::map<std::pair<std::string, std::string>, Findings> kernels;
  /// With how often each was used.
  std::vector<report::Rule> rules;
  /// Reports that have no end: their programs crashed or were ended.
  std::vector<std::string> cut_short;

  /// Of all programs, by file and line.
  std::vector<Merged> findings() const;
};

/// Paths below the current folder are told from there. Throws std::runtime_error, which names the file.
Reports read_reports(const std::vector<std::string>& files);

/// SARIF 2.1.0. GitHub shows a suppressed result as an open one: for its code scanning they are left out.
halo::json::Value sarif(const Reports& reports, bool has_suppressed);

/// JUnit's XML: a suite for each program, a case for each kernel.
std::string junit(const Reports& reports, const report::FailOn& fail_on);

}  // namespace simt::command
