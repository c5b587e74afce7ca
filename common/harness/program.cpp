#include "common/harness/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <new>

namespace halo {

namespace {

constexpr int kRounds = 15;
constexpr int kFewestRounds = 9;
constexpr double kRoundMs = 5;         // a round repeats short calls until it lasts this long
constexpr double kVariantMs = 1500;    // a variant's rounds together, if that leaves enough of them
constexpr double kLongRoundMs = 1000;  // calls this long are worth three rounds only
constexpr double kWarmUpMs = 300;

bool may_be_timed(const Candidate& candidate) {
  const Row& row = candidate.row;
  return candidate.time && row.check.outcome == Outcome::good &&
         row.hazards.outcome != Outcome::bad && row.traffic.outcome != Outcome::bad;
}

// Linear interpolation between the closest ranks; `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

struct Clock {
  explicit Clock(Candidate* timed) : candidate(timed) {}
  Candidate* candidate;
  int repeats = 1;
  int rounds = kRounds;
  std::vector<double> calls;      // ms
  std::vector<double> transfers;  // ms
};

void fail_time(Candidate& candidate, const std::string& reason) {
  candidate.row.time.outcome = Outcome::bad;
  candidate.row.time.reason = reason;
}

// Warms up, and plans the rounds from how long a call takes.
void plan(Clock& clock) {
  double once = clock.candidate->time(1);
  double spent = once;
  while (spent < kWarmUpMs && once < kWarmUpMs / 4) {
    const int batch = std::clamp(static_cast<int>(10 / std::max(once, 1e-3)), 1, 1000);
    once = clock.candidate->time(batch);
    spent += once * batch;
  }
  clock.repeats = std::clamp(static_cast<int>(std::ceil(kRoundMs / std::max(once, 1e-4))), 1, 2000);
  const double round = once * clock.repeats;
  clock.rounds = std::clamp(static_cast<int>(kVariantMs / round), kFewestRounds, kRounds);
  if (round > kLongRoundMs) clock.rounds = 3;
}

void finish(Clock& clock) {
  Time& time = clock.candidate->row.time;
  std::sort(clock.calls.begin(), clock.calls.end());
  time.outcome = Outcome::good;
  time.rounds = static_cast<int>(clock.calls.size());
  time.median_ms = percentile(clock.calls, 0.5);
  time.p10_ms = percentile(clock.calls, 0.1);
  time.p90_ms = percentile(clock.calls, 0.9);
  time.gb_per_s = clock.candidate->min_bytes / time.median_ms * 1e-6;
  time.gflop_per_s = clock.candidate->flops / time.median_ms * 1e-6;
  if (!clock.transfers.empty()) {
    std::sort(clock.transfers.begin(), clock.transfers.end());
    time.transfers_ms = percentile(clock.transfers, 0.5);
  }
}

void time_together(const std::vector<Candidate*>& group, Progress& progress) {
  std::vector<Clock> clocks;
  for (Candidate* candidate : group) {
    if (!may_be_timed(*candidate)) {
      if (candidate->time) candidate->row.time.reason = "it failed its check";
      continue;
    }
    try {
      progress.show(candidate->row.stage + " " + candidate->row.variant + ": warming up");
      Clock clock(candidate);
      plan(clock);
      clocks.push_back(std::move(clock));
    } catch (const std::exception& error) {
      fail_time(*candidate, error.what());
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Clock& clock : clocks) {
      Candidate& candidate = *clock.candidate;
      if (round >= clock.rounds || candidate.row.time.outcome == Outcome::bad) continue;
      progress.show(candidate.row.stage + " " + candidate.row.variant + ": round " +
                    std::to_string(round + 1) + " of " + std::to_string(clock.rounds));
      try {
        clock.calls.push_back(candidate.time(clock.repeats));
        if (candidate.time_with_transfers) {
          clock.transfers.push_back(candidate.time_with_transfers());
        }
      } catch (const std::exception& error) {
        fail_time(candidate, error.what());
      }
    }
  }
  for (Clock& clock : clocks) {
    if (clock.candidate->row.time.outcome != Outcome::bad) finish(clock);
  }
}

}  // namespace

std::vector<Row> run_candidates(std::vector<Candidate>& candidates, Progress& progress) {
  for (Candidate& candidate : candidates) {
    progress.show(candidate.row.stage + " " + candidate.row.variant + ": checking");
    candidate.check(candidate.row, progress);
  }
  // Candidates stand in the order of their problems; each run of equal problems is one group.
  for (std::size_t begin = 0; begin < candidates.size();) {
    std::size_t end = begin;
    std::vector<Candidate*> group;
    while (end < candidates.size() &&
           candidates[end].row.problem == candidates[begin].row.problem) {
      group.push_back(&candidates[end++]);
    }
    time_together(group, progress);
    begin = end;
  }
  progress.clear();
  std::vector<Row> rows;
  for (const Candidate& candidate : candidates) rows.push_back(candidate.row);
  fill_ratios(rows);
  return rows;
}

int publish(Results results, const OutputOptions& options) {
  const TableOptions table{use_color(options.color, stdout)};
  const std::string text = options.report_table ? render_report_table(results.rows, table)
                                                : render_table(results.rows, table);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!options.json.empty()) write_json(options.json, results);
  return exit_status(results.rows);
}

int guarded_main(const char* program, const std::function<int()>& body) {
  std::string message;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    message = "not enough memory: choose a smaller --length";
  } catch (const std::exception& error) {
    message = error.what();
  }
  const std::string path = program == nullptr ? "" : program;
  const std::string name = path.substr(path.find_last_of('/') + 1);
  std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
  return 2;
}

}  // namespace halo
