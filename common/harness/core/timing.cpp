#include "common/harness/core/timing.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include "common/report/row_stream.hpp"

namespace halo {

namespace {

constexpr int kMostCalls = 1000;  // of a round
constexpr std::size_t kFewestTransfers = 3;
constexpr double kThrottled = 0.95;  // of the highest clock seen: a round below is left out
constexpr double kShortMs = 0.1;     // a call in which some tenths of a microsecond are seen
constexpr double kSlower = 1.1;      // launches on a device that was not begun anew

bool may_be_timed(const Candidate& candidate) {
  const Row& row = candidate.row;
  return candidate.batch && row.check.outcome == Outcome::good &&
         row.hazards.outcome != Outcome::bad;
}

// Linear interpolation between the closest ranks; `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - std::floor(rank)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 0.5);
}

// One round: milliseconds of a call, and the clock just after it (negative: not known).
struct Round {
  double ms;
  double clock_mhz;
};

Spread spread_of(const std::vector<Round>& rounds, double lowest_clock, int& discarded) {
  Spread spread;
  std::vector<double> kept;
  for (const Round& round : rounds) {
    const bool throttled = round.clock_mhz > 0 && round.clock_mhz < lowest_clock;
    discarded += throttled;
    if (!throttled) kept.push_back(round.ms);
  }
  if (kept.empty()) return spread;
  std::vector<double> even;
  std::vector<double> odd;
  for (std::size_t i = 0; i < kept.size(); ++i) (i % 2 == 0 ? even : odd).push_back(kept[i]);
  if (!odd.empty()) spread.repeat_spread = std::abs(median(even) / median(odd) - 1);
  std::sort(kept.begin(), kept.end());
  spread.rounds = static_cast<int>(kept.size());
  spread.median_ms = percentile(kept, 0.5);
  spread.p10_ms = percentile(kept, 0.1);
  spread.p90_ms = percentile(kept, 0.9);
  return spread;
}

// A candidate while it is timed.
struct Clock {
  Clock(Candidate* timed, const TimingSettings& how) : candidate(timed), settings(how) {}

  Candidate* candidate;
  TimingSettings settings;
  std::unique_ptr<Batch> hot;
  std::unique_ptr<Batch> cold;
  std::unique_ptr<Batch> overlapped;
  std::unique_ptr<Batch> packing;
  int hot_calls = 1;
  int cold_calls = 0;
  int packing_calls = 0;
  int rounds = 0;
  double once_ms = 0;
  std::vector<Round> hot_rounds;
  std::vector<Round> cold_rounds;
  std::vector<Round> overlapped_rounds;
  std::vector<Round> packing_rounds;
  std::vector<Round> transfers;
  double transfers_ms = 0;  // all of them together

  bool failed() const { return candidate->row.time.outcome == Outcome::bad; }
  void fail(const std::string& reason) {
    candidate->row.time.outcome = Outcome::bad;
    candidate->row.time.reason = reason;
  }
};

// Calls that a round takes, when a call takes `once` ms.
int calls_of_a_round(double once, const TimingSettings& settings) {
  const auto calls = static_cast<int>(std::ceil(settings.round_ms / std::max(once, 1e-4)));
  if (once >= settings.round_ms / 2) return calls;
  return std::clamp(calls, settings.fewest_calls, kMostCalls);
}

// Milliseconds of a round, the second: the first loads code and grows pools.
double time_once(Batch& batch) {
  batch.run();
  return batch.run();
}

// Milliseconds of a call among others. Alone it would come with what each round costs to start, as long as a short
// call on a GPU: rounds planned from that are half as long as they should be.
double time_call(const std::function<std::unique_ptr<Batch>(int calls)>& prepare,
                 const TimingSettings& settings) {
  const double alone = time_once(*prepare(1));
  const int calls = calls_of_a_round(alone, settings);
  return calls == 1 ? alone : time_once(*prepare(calls)) / calls;
}

// Plans the rounds from how long a call takes, and prepares them.
void plan(Clock& clock) {
  Candidate& candidate = *clock.candidate;
  const double once =
      time_call([&](int calls) { return candidate.batch(calls, Cache::hot); }, clock.settings);
  clock.once_ms = once;
  clock.hot_calls = calls_of_a_round(once, clock.settings);
  clock.hot = candidate.batch(clock.hot_calls, Cache::hot);
  double round = once * clock.hot_calls;
  const int turn = candidate.cold_calls ? candidate.cold_calls() : 0;
  if (turn > 1) {
    // Whole turns, so that each call finds what the cache lost longest ago.
    clock.cold_calls = (clock.hot_calls - 1) / turn * turn + turn;
    clock.cold = candidate.batch(clock.cold_calls, Cache::cold);
    round += once * clock.cold_calls;
  }
  if (candidate.overlapped_batch) {
    clock.overlapped = candidate.overlapped_batch(clock.hot_calls);
    round += once * clock.hot_calls;
  }
  if (candidate.pack_batch) {
    const double packing = time_call(candidate.pack_batch, clock.settings);
    clock.packing_calls = calls_of_a_round(packing, clock.settings);
    clock.packing = candidate.pack_batch(clock.packing_calls);
    round += packing * clock.packing_calls;
  }
  const TimingSettings& settings = clock.settings;
  clock.rounds = std::clamp(static_cast<int>(settings.variant_ms / round), settings.fewest_rounds,
                            settings.rounds);
  if (round > settings.long_round_ms) clock.rounds = 3;
}

void run_round(Clock& clock, Backend& backend) {
  const auto timed = [&](Batch& batch, int calls) {
    const double ms = batch.run() / calls;
    return Round{ms, backend.clock_mhz()};
  };
  if (clock.cold) clock.cold_rounds.push_back(timed(*clock.cold, clock.cold_calls));
  clock.hot_rounds.push_back(timed(*clock.hot, clock.hot_calls));
  if (clock.overlapped) {
    clock.overlapped_rounds.push_back(timed(*clock.overlapped, clock.hot_calls));
  }
  if (clock.packing) clock.packing_rounds.push_back(timed(*clock.packing, clock.packing_calls));
  if (clock.candidate->time_with_transfers && (clock.transfers.size() < kFewestTransfers ||
                                               clock.transfers_ms < clock.settings.variant_ms)) {
    clock.transfers.push_back({clock.candidate->time_with_transfers(), -1});
    clock.transfers_ms += clock.transfers.back().ms;
  }
}

// Whether no round is left of either kind.
bool all_throttled(const Clock& clock, double lowest_clock) {
  int discarded = 0;
  return spread_of(clock.hot_rounds, lowest_clock, discarded).rounds == 0 ||
         (clock.cold && spread_of(clock.cold_rounds, lowest_clock, discarded).rounds == 0);
}

void finish(Clock& clock, double highest_clock) {
  const Candidate& candidate = *clock.candidate;
  Time& time = clock.candidate->row.time;
  double lowest = kThrottled * highest_clock;
  if (all_throttled(clock, lowest)) {
    // Twice now: that is how this code runs here, for the power it draws. The time stands, and says
    // at which clock.
    std::vector<double> clocks;
    for (const Round& round : clock.hot_rounds) clocks.push_back(round.clock_mhz);
    time.low_clock_mhz = median(clocks);
    lowest = 0;
  }
  time.hot = spread_of(clock.hot_rounds, lowest, time.discarded_rounds);
  time.cold = spread_of(clock.cold_rounds, lowest, time.discarded_rounds);
  if (candidate.cold_calls && candidate.cold_calls() == 1) time.cold = time.hot;
  // What is left of them goes with the hot rounds that they were timed between.
  int left_out = 0;
  time.overlapped = spread_of(clock.overlapped_rounds, lowest, left_out);
  time.packing_ms = spread_of(clock.packing_rounds, lowest, left_out).median_ms;
  time.transfers = spread_of(clock.transfers, lowest, time.discarded_rounds);
  time.outcome = Outcome::good;
  time.method = clock.hot->method();
  if (KernelFigures seen = clock.hot->figures(); !seen.launches.empty()) {
    Figures& figures = clock.candidate->row.traffic.figures;
    figures.counted = std::move(seen.launches);
    figures.registers = seen.registers;
    figures.local_bytes = seen.local_bytes;
  }
  time.gb_per_s = candidate.min_bytes / time.hot.median_ms * 1e-6;
  if (time.cold.rounds > 0) time.cold_gb_per_s = candidate.min_bytes / time.cold.median_ms * 1e-6;
  if (candidate.flops > 0) time.gflop_per_s = candidate.flops / time.hot.median_ms * 1e-6;
  if (candidate.detail) clock.candidate->row.detail = candidate.detail();
}

// Calls `work`; what it throws becomes the clock's failure.
template <class Work>
void guarded(Clock& clock, Work work) {
  try {
    work();
  } catch (const std::exception& error) {
    clock.fail(error.what());
  }
}

// Whether what libraries have tried has made launches slower, by so much that it would be seen in these calls.
// `clean_us`: of a launch on a device that was begun anew; negative: not known yet.
bool must_begin_anew(const std::vector<Clock>& clocks, Backend& backend, double clean_us) {
  bool any_peer = false, any_short = false;
  for (const Clock& clock : clocks) {
    if (!clock.candidate->drop) return false;
    any_peer |= clock.candidate->row.role == Role::peer;
    any_short |= !clock.failed() && clock.once_ms < kShortMs;
  }
  if (!any_peer || !any_short) return false;
  const double now_us = backend.launch_us();
  return now_us > 0 && (clean_us < 0 || now_us > kSlower * clean_us);
}

void time_together(const std::vector<Candidate*>& group, Backend& backend, Progress& progress,
                   const TimingSettings& settings, double& clean_us) {
  std::vector<Clock> clocks;
  for (Candidate* candidate : group) {
    if (!may_be_timed(*candidate)) {
      const Check& check = candidate->row.check;
      const bool unchecked = check.outcome == Outcome::not_run && !check.reason.empty();
      if (candidate->batch) {
        candidate->row.time.reason = unchecked ? check.reason : "it failed its check";
      }
      continue;
    }
    progress.show(candidate->row.stage + " " + candidate->row.variant + ": preparing");
    clocks.emplace_back(candidate, settings);
    guarded(clocks.back(), [&] { plan(clocks.back()); });
  }
  if (must_begin_anew(clocks, backend, clean_us)) {
    progress.show("resetting the device");
    std::vector<Clock> again;
    for (const Clock& clock : clocks) again.emplace_back(clock.candidate, settings);
    clocks.clear();  // before the memory that they use
    for (const Clock& clock : again) clock.candidate->drop();
    const bool usable = backend.recover();
    if (usable) clean_us = backend.launch_us();
    for (Clock& clock : again) {
      if (!usable) clock.fail("the device can't be used any more");
      if (!clock.failed()) guarded(clock, [&] { plan(clock); });
    }
    clocks = std::move(again);
  }
  // The clock rises with work and falls without: work until it has settled.
  double warm = 0;
  for (bool any = true; any && warm < settings.warm_up_ms;) {
    any = false;
    for (Clock& clock : clocks) {
      if (clock.failed() || warm >= settings.warm_up_ms) continue;
      guarded(clock, [&] { warm += clock.hot->run(); });
      any = true;
    }
  }
  for (int round = 0; round < settings.rounds; ++round) {
    for (Clock& clock : clocks) {
      if (round >= clock.rounds || clock.failed()) continue;
      progress.show(clock.candidate->row.stage + " " + clock.candidate->row.variant + ": round " +
                    std::to_string(round + 1) + " of " + std::to_string(clock.rounds));
      guarded(clock, [&] { run_round(clock, backend); });
    }
  }
  double highest = -1;
  for (const Clock& clock : clocks) {
    for (const std::vector<Round>* rounds : {&clock.hot_rounds, &clock.cold_rounds}) {
      for (const Round& round : *rounds) highest = std::max(highest, round.clock_mhz);
    }
  }
  // A variant that met a low clock in every round is given its rounds once more.
  for (Clock& clock : clocks) {
    if (clock.failed() || !all_throttled(clock, kThrottled * highest)) continue;
    progress.show(clock.candidate->row.stage + " " + clock.candidate->row.variant +
                  ": again, the clock was low");
    clock.hot_rounds.clear();
    clock.cold_rounds.clear();
    clock.overlapped_rounds.clear();
    clock.packing_rounds.clear();
    for (int round = 0; round < clock.rounds && !clock.failed(); ++round) {
      guarded(clock, [&] { run_round(clock, backend); });
    }
  }
  for (Clock& clock : clocks) {
    if (!clock.failed()) finish(clock, highest);
  }
}

}  // namespace

std::vector<Row> run_candidates(std::vector<Candidate>& candidates, Backend& backend,
                                Progress& progress, const TimingSettings& settings) {
  double clean_us = -1;  // of a launch
  // Candidates stand in the order of their problems; each run of equal problems is one group, with
  // its data in memory until the next.
  for (std::size_t begin = 0; begin < candidates.size();) {
    std::size_t end = begin;
    std::vector<Candidate*> group;
    while (end < candidates.size() &&
           candidates[end].row.problem == candidates[begin].row.problem) {
      group.push_back(&candidates[end++]);
    }
    for (Candidate* candidate : group) {
      progress.show(candidate->row.stage + " " + candidate->row.variant + ": checking");
      RowStream::to_starter().begin(candidate->row);
      candidate->check(candidate->row, progress);
      // What is not timed is final: if the next one takes the program down, this is not lost.
      if (!backend.times()) RowStream::to_starter().rows({candidate->row});
    }
    time_together(group, backend, progress, settings, clean_us);
    for (Candidate* candidate : group) {
      candidate->check = {};
      candidate->batch = {};
      candidate->overlapped_batch = {};
      candidate->pack_batch = {};
      candidate->cold_calls = {};
      candidate->time_with_transfers = {};
      candidate->detail = {};
      candidate->drop = {};
    }
    for (const Candidate* candidate : group) {
      if (backend.times()) RowStream::to_starter().rows({candidate->row});
    }
    begin = end;
  }
  progress.clear();
  std::vector<Row> rows;
  for (const Candidate& candidate : candidates) rows.push_back(candidate.row);
  fill_ratios(rows);
  return rows;
}

}  // namespace halo
