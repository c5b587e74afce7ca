#include "common/report/rows.hpp"

#include <sys/sysinfo.h>

#include <ctime>
#include <fstream>
#include <map>

namespace halo {

namespace {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
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

Row::Row() = default;
Row::Row(const Row&) = default;
Row::Row(Row&&) noexcept = default;
Row& Row::operator=(const Row&) = default;
Row& Row::operator=(Row&&) noexcept = default;
Row::~Row() = default;

Results new_results(int argc, const char* const* argv, std::uint64_t seed) {
  Results results;
  for (int i = 0; i < argc; ++i) {
    if (i > 0) results.command += ' ';
    results.command += argv[i];
  }
  results.date = now_utc();
  results.seed = seed;
  results.machine.cpu = cpu_name();
  results.machine.cpu_threads = get_nprocs();
  results.machine.compiler = "g++ " __VERSION__;
#ifdef __clang__
  results.machine.compiler = __VERSION__;
#endif
  return results;
}

int exit_status(const std::vector<Row>& rows, bool strict) {
  bool checked = false;
  bool compiled = true;
  for (const Row& row : rows) {
    if (!row.start.compiled) {
      compiled = false;
      continue;
    }
    for (const Outcome outcome : {row.check.outcome, row.hazards.outcome, row.time.outcome}) {
      if (outcome == Outcome::bad) return 1;
    }
    if (strict && row.traffic.outcome == Outcome::bad) return 1;
    checked |= row.check.outcome == Outcome::good;
  }
  return !compiled ? 2 : checked ? 0 : 77;
}

int run_status(const Results& results, bool strict) {
  if (results.end.interrupted != 0) return 128 + results.end.interrupted;
  return results.end.not_written.empty() ? exit_status(results.rows, strict) : kNotWritten;
}

namespace {

// How many times faster `row` is than `other`.
double speedup(const Row& row, const Row& other) {
  const bool cold = row.time.cold.median_ms > 0 && other.time.cold.median_ms > 0;
  return cold ? other.time.cold.median_ms / row.time.cold.median_ms
              : other.time.hot.median_ms / row.time.hot.median_ms;
}

}  // namespace

void fill_ratios(std::vector<Row>& rows) {
  // Thousands of rows of hundreds of problems: those of one problem are looked at together.
  std::map<std::pair<std::string, Problem>, std::vector<Row*>> contests;
  for (Row& row : rows) {
    row.time.ratio_to_previous = row.time.ratio_to_copy = row.time.ratio_to_best_peer = -1;
    row.time.best_peer.clear();
    if (row.time.outcome == Outcome::good) contests[{row.backend, row.problem}].push_back(&row);
  }
  for (const auto& [problem, contest] : contests) {
    const Row* previous = nullptr;
    for (Row* const row : contest) {
      if (row->role == Role::variant) {
        if (previous != nullptr) row->time.ratio_to_previous = speedup(*row, *previous);
        previous = row;
      }
      for (const Row* const other : contest) {
        if (other == row) continue;
        const double ratio = speedup(*row, *other);
        if (other->role == Role::copy &&
            (row->time.ratio_to_copy < 0 || ratio < row->time.ratio_to_copy)) {
          row->time.ratio_to_copy = ratio;
        }
        if (other->role == Role::peer && row->role != Role::copy &&
            (row->time.best_peer.empty() || ratio < row->time.ratio_to_best_peer)) {
          row->time.ratio_to_best_peer = ratio;
          row->time.best_peer = other->variant;
        }
      }
    }
  }
}

void fill_shares(std::vector<Row>& rows, const Machine& machine) {
  for (Row& row : rows) {
    Time& time = row.time;
    time.share_of_copy = time.share_of_fp32 = -1;
    if (time.outcome != Outcome::good) continue;
    for (const auto& [backend, roofs] : machine.roofs) {
      if (backend != row.backend) continue;
      const double bandwidth = time.cold_gb_per_s > 0 ? time.cold_gb_per_s : time.gb_per_s;
      if (roofs.copy_gb_per_s > 0 && bandwidth > 0) {
        time.share_of_copy = bandwidth / roofs.copy_gb_per_s;
      }
      if (roofs.fp32_gflop_per_s > 0 && time.gflop_per_s > 0) {
        time.share_of_fp32 = time.gflop_per_s / roofs.fp32_gflop_per_s;
      }
    }
  }
}

}  // namespace halo
