// Two results files side by side: which rows became faster, which slower, and which differ by less
// than the measurement can tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/report/rows.hpp"
#include "common/report/table.hpp"

namespace halo {

struct NamedResults {
  std::string name;  // the file
  Results results;
};

// Time in A / time in B: above 1, B is faster. Negative: not measured in both.
struct TimeRatio {
  double median = -1;
  double low = -1;   // A's p10 / B's p90
  double high = -1;  // A's p90 / B's p10
  // The intervals overlap, or the difference is within the A/A spread of either, or the threshold.
  bool tie = false;
};

/// Of two times of one problem; differences of at most `threshold` are ties.
TimeRatio time_ratio(const Spread& a, const Spread& b, double threshold = 0);

enum class Verdict { improvement, tie, regression, not_compared };

// The rows with one backend, stage (or role, for a peer), variant and problem.
struct ComparedRow {
  std::optional<Row> a;
  std::optional<Row> b;
  TimeRatio hot;
  TimeRatio cold;
  Verdict verdict = Verdict::not_compared;
  // What changed: "hot", "hot, cold", "check". Not compared: why.
  std::string cause;

  const Row& row() const { return a ? *a : *b; }
};

struct Comparison {
  std::string a;  // the file and when it was made
  std::string b;
  std::string machines;           // how the machines differ, one line; empty if they do not
  std::vector<ComparedRow> rows;  // as in A, then what is only in B

  int count(Verdict verdict) const;
};

/// Pairs the rows. A row is a regression if a column that was good is bad (check, hazards, traffic,
/// time), or if it is slower hot or cold; an improvement if it is not and its check was bad, or it is
/// faster hot or cold. Differences of at most `threshold` (0.02: 2 %) are ties.
Comparison compare(const NamedResults& a, const NamedResults& b, double threshold = 0);

/// One table per backend and problem, then the summary: counts, geometric means, the best, the worst
/// and every regression by name. CSV: the rows only.
std::string render_comparison(const Comparison& comparison, const TableOptions& options = {});

}  // namespace halo
