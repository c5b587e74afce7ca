#include "common/harness/report.hpp"

#include <chrono>
#include <ctime>
#include <fstream>

namespace halo {

namespace {

std::string now_utc() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos && line.rfind("model name", 0) == 0) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

}  // namespace

Results new_results(int argc, const char* const* argv, std::uint64_t seed) {
  Results results;
  for (int i = 0; i < argc; ++i) {
    if (i > 0) results.command += ' ';
    results.command += argv[i];
  }
  results.date = now_utc();
  results.seed = seed;
  results.machine.cpu = cpu_name();
  results.machine.compiler = "g++ " __VERSION__;
#ifdef __clang__
  results.machine.compiler = __VERSION__;
#endif
  return results;
}

int exit_status(const std::vector<Row>& rows) {
  bool checked = false;
  for (const Row& row : rows) {
    for (const Outcome outcome :
         {row.check.outcome, row.hazards.outcome, row.traffic.outcome, row.time.outcome}) {
      if (outcome == Outcome::bad) return 1;
    }
    checked |= row.check.outcome == Outcome::good;
  }
  return checked ? 0 : 77;
}

void fill_ratios(std::vector<Row>& rows) {
  for (std::size_t at = 0; at < rows.size(); ++at) {
    Row& row = rows[at];
    row.time.ratio_to_previous = -1;
    if (row.time.outcome != Outcome::good) continue;
    for (std::size_t before = at; before-- > 0;) {
      const Row& other = rows[before];
      if (other.time.outcome == Outcome::good && other.backend == row.backend &&
          other.problem == row.problem) {
        row.time.ratio_to_previous = other.time.median_ms / row.time.median_ms;
        break;
      }
    }
  }
}

}  // namespace halo
