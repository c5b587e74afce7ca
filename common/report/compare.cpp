#include "common/report/compare.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/report/command_line.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

// Roofs and clocks of one machine vary this much from run to run.
constexpr double kRoofTolerance = 0.03;
constexpr double kClockTolerance = 0.02;

// What makes a row the same row in both files. A peer belongs to no stage.
std::string key_of(const Row& row) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row.problem) {
    fields.push_back(name + "=" + exact_value(row.problem, name));
  }
  std::sort(fields.begin(), fields.end());
  std::string key = row.backend + "\n" + role_name(row.role) + "\n" +
                    (row.role == Role::variant ? row.stage : "") + "\n" + row.variant;
  for (const std::string& field : fields) key += "\n" + field;
  return key;
}

struct ColumnOutcomes {
  const char* name;
  Outcome a;
  Outcome b;
};

void judge(ComparedRow& pair, double threshold) {
  if (!pair.a || !pair.b) {
    pair.cause = pair.a ? "only in A" : "only in B";
    return;
  }
  const Row& a = *pair.a;
  const Row& b = *pair.b;
  const ColumnOutcomes columns[] = {{"check", a.check.outcome, b.check.outcome},
                                    {"hazards", a.hazards.outcome, b.hazards.outcome},
                                    {"traffic", a.traffic.outcome, b.traffic.outcome},
                                    {"time", a.time.outcome, b.time.outcome}};
  std::string worse;
  std::string better;
  const auto add = [](std::string& list, const char* name) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  };
  for (const ColumnOutcomes& column : columns) {
    if (column.b == Outcome::bad && column.a != Outcome::bad) add(worse, column.name);
    if (column.b == Outcome::good && column.a == Outcome::bad) add(better, column.name);
  }
  const bool timed = a.time.outcome == Outcome::good && b.time.outcome == Outcome::good;
  if (timed) {
    pair.hot = time_ratio(a.time.hot, b.time.hot, threshold);
    pair.cold = time_ratio(a.time.cold, b.time.cold, threshold);
    for (const auto& [name, ratio] : {std::pair{"hot", pair.hot}, {"cold", pair.cold}}) {
      if (ratio.median < 0 || ratio.tie) continue;
      add(ratio.median > 1 ? better : worse, name);
    }
  }
  if (!worse.empty()) {
    pair.verdict = Verdict::regression;
    pair.cause = worse;
  } else if (!better.empty()) {
    pair.verdict = Verdict::improvement;
    pair.cause = better;
  } else if (pair.hot.median > 0 || pair.cold.median > 0) {
    pair.verdict = Verdict::tie;
  } else {
    const auto said = [](const char* name, const Row& row) {
      if (row.check.outcome == Outcome::bad) return name + std::string(": failed its check");
      return row.time.reason.empty() ? name + std::string(": no time")
                                     : name + (": " + row.time.reason);
    };
    const bool in_a = a.time.outcome == Outcome::good;
    const bool in_b = b.time.outcome == Outcome::good;
    const std::string about_a = said("A", a);
    const std::string about_b = said("B", b);
    if (in_a || in_b) {
      pair.cause = in_a ? about_b : about_a;
    } else {
      const bool alike = about_a.substr(1) == about_b.substr(1);
      pair.cause = alike ? "A and B" + about_a.substr(1) : about_a + "; " + about_b;
    }
  }
}

const Roofs* roofs_of(const Machine& machine, const std::string& backend) {
  for (const auto& [name, roofs] : machine.roofs) {
    if (name == backend) return &roofs;
  }
  return nullptr;
}

std::string differences(const Machine& a, const Machine& b) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  const auto words = [&](const std::string& name, const std::string& in_a,
                         const std::string& in_b) {
    if (in_a == in_b) return;
    add(name + " " + (in_a.empty() ? "none" : in_a) + " in A, " + (in_b.empty() ? "none" : in_b) +
        " in B");
  };
  words("GPU", a.gpu, b.gpu);
  words("driver", a.driver, b.driver);
  words("CUDA", a.cuda, b.cuda);
  std::map<std::string, std::pair<std::string, std::string>> libraries;
  for (const auto& [name, version] : a.libraries) libraries[name].first = version;
  for (const auto& [name, version] : b.libraries) libraries[name].second = version;
  for (const auto& [name, versions] : libraries) words(name, versions.first, versions.second);
  words("CPU", a.cpu, b.cpu);
  words("compiler", a.compiler, b.compiler);
  words("build", a.build, b.build);
  const auto figures = [&](const std::string& name, double in_a, double in_b, double tolerance,
                           const char* unit) {
    if (in_a <= 0 || in_b <= 0) return;
    const double change = in_b / in_a - 1;
    if (std::abs(change) <= tolerance) return;
    add(name + " " + rounded(in_a, 4) + " in A, " + rounded(in_b, 4) + " " + unit + " in B (" +
        (change < 0 ? "-" : "+") + fixed(std::abs(change) * 100, 1) + " %)");
  };
  for (const auto& [backend, roofs] : a.roofs) {
    const Roofs* other = roofs_of(b, backend);
    if (other == nullptr) continue;
    const std::string place = backend == "gpu" ? "GPU " : backend == "cpu" ? "CPU " : backend + " ";
    figures(place + "clock", roofs.clock_mhz, other->clock_mhz, kClockTolerance, "MHz");
    figures(place + "copy roof", roofs.copy_gb_per_s, other->copy_gb_per_s, kRoofTolerance, "GB/s");
    figures(place + "fp32 roof", roofs.fp32_gflop_per_s, other->fp32_gflop_per_s, kRoofTolerance,
            "GFLOP/s");
  }
  return text;
}

// ---- Text ----

using Pairs = std::vector<const ComparedRow*>;
using PairField = Field<ComparedRow>;

Cell verdict_cell(const ComparedRow& pair) {
  switch (pair.verdict) {
    case Verdict::improvement:
      return {"improvement: " + pair.cause, Tone::good};
    case Verdict::regression:
      return {"REGRESSION: " + pair.cause, Tone::bad};
    case Verdict::tie:
      return {"tie"};
    case Verdict::not_compared:
      break;
  }
  if (!pair.a || !pair.b) return {pair.cause, Tone::caution};
  return not_run_cell();
}

double median_of(const std::optional<Row>& row, Spread Time::*spread) {
  return row && row->time.outcome == Outcome::good ? (row->time.*spread).median_ms : -1;
}

std::string interval(const TimeRatio& ratio) {
  if (ratio.median < 0) return "-";
  return "[" + fixed(ratio.low, 3) + ", " + fixed(ratio.high, 3) + "]";
}

struct Measure {
  const char* name;
  Spread Time::*spread;
  TimeRatio ComparedRow::*ratio;
};
constexpr Measure kMeasures[] = {{"hot", &Time::hot, &ComparedRow::hot},
                                 {"cold", &Time::cold, &ComparedRow::cold}};

std::vector<PairField> shown_fields(bool cold) {
  std::vector<PairField> fields = {
      {"stage", false, [](const ComparedRow& pair) { return Cell{stage_label(pair.row())}; }},
      {"variant", false, [](const ComparedRow& pair) { return Cell{pair.row().variant}; }}};
  for (const Measure& measure : kMeasures) {
    const std::string before = cold ? std::string(measure.name) + " " : "";
    fields.push_back({before + "ms in A", true,
                      [&measure](const ComparedRow& pair) {
                        return Cell{rounded(median_of(pair.a, measure.spread))};
                      },
                      true});
    fields.push_back({before + "ms in B", true,
                      [&measure](const ComparedRow& pair) {
                        return Cell{rounded(median_of(pair.b, measure.spread))};
                      },
                      true});
    fields.push_back({before + "A/B", true,
                      [&measure](const ComparedRow& pair) {
                        return Cell{fixed((pair.*measure.ratio).median, 3)};
                      },
                      true});
    fields.push_back(
        {before + "spread", true,
         [&measure](const ComparedRow& pair) { return Cell{interval(pair.*measure.ratio)}; },
         true});
  }
  fields.push_back({"verdict", false, verdict_cell});
  return fields;
}

std::string csv(const Comparison& comparison, const TableOptions& options) {
  Pairs pairs;
  for (const ComparedRow& pair : comparison.rows) pairs.push_back(&pair);
  std::vector<PairField> fields = identity_fields<ComparedRow>(
      pairs, [](const ComparedRow& pair) -> const Row& { return pair.row(); });
  const auto figure = [&](const std::string& name,
                          std::function<double(const ComparedRow&)> value) {
    fields.push_back(
        {name, true, [value](const ComparedRow& pair) { return Cell{exact(value(pair))}; }});
  };
  for (const Measure& measure : kMeasures) {
    const std::string name = measure.name;
    figure("a_" + name + "_median_ms",
           [&measure](const ComparedRow& pair) { return median_of(pair.a, measure.spread); });
    figure("b_" + name + "_median_ms",
           [&measure](const ComparedRow& pair) { return median_of(pair.b, measure.spread); });
    figure(name + "_ratio",
           [&measure](const ComparedRow& pair) { return (pair.*measure.ratio).median; });
    figure(name + "_ratio_low",
           [&measure](const ComparedRow& pair) { return (pair.*measure.ratio).low; });
    figure(name + "_ratio_high",
           [&measure](const ComparedRow& pair) { return (pair.*measure.ratio).high; });
  }
  fields.push_back({"verdict", false, [](const ComparedRow& pair) {
                      switch (pair.verdict) {
                        case Verdict::improvement:
                          return Cell{"improvement"};
                        case Verdict::tie:
                          return Cell{"tie"};
                        case Verdict::regression:
                          return Cell{"regression"};
                        case Verdict::not_compared:
                          break;
                      }
                      return Cell{"NOT RUN"};
                    }});
  fields.push_back({"cause", false, [](const ComparedRow& pair) { return Cell{pair.cause}; }});
  return lay_out(tabulate("", pairs, fields), options);
}

// "gpu 04 tiled_halo, length 1,000": a row in a line of text.
std::string name_of(const Row& row) {
  const std::string problem = describe(row.problem);
  return row.backend + " " + stage_label(row) + " " + row.variant +
         (problem.empty() ? "" : ", " + problem);
}

std::string counted(int count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::vector<Note> summary(const Comparison& comparison) {
  std::vector<Note> notes;
  notes.push_back({{},
                   counted(comparison.count(Verdict::improvement), "improvement") + ", " +
                       counted(comparison.count(Verdict::tie), "tie") + ", " +
                       counted(comparison.count(Verdict::regression), "regression") + ", " +
                       std::to_string(comparison.count(Verdict::not_compared)) + " not compared"});
  for (const Measure& measure : kMeasures) {
    const ComparedRow* best = nullptr;
    const ComparedRow* worst = nullptr;
    double logarithms = 0;
    int rows = 0;
    const auto ratio = [&](const ComparedRow* pair) { return (pair->*measure.ratio).median; };
    for (const ComparedRow& pair : comparison.rows) {
      if (ratio(&pair) < 0) continue;
      ++rows;
      logarithms += std::log(ratio(&pair));
      if (best == nullptr || ratio(&pair) > ratio(best)) best = &pair;
      if (worst == nullptr || ratio(&pair) < ratio(worst)) worst = &pair;
    }
    if (rows == 0) continue;
    notes.push_back({{},
                     std::string(measure.name) + ": geometric mean " +
                         fixed(std::exp(logarithms / rows), 3) + " over " + counted(rows, "row") +
                         "; best " + fixed(ratio(best), 3) + " (" + name_of(best->row()) +
                         "); worst " + fixed(ratio(worst), 3) + " (" + name_of(worst->row()) +
                         ")"});
  }
  for (const ComparedRow& pair : comparison.rows) {
    if (pair.verdict != Verdict::regression) continue;
    notes.push_back({{"REGRESSION:", Tone::bad}, name_of(pair.row()) + ": " + pair.cause});
  }
  return notes;
}

// Why rows were not compared, each reason once.
std::vector<Note> reasons(const Pairs& pairs) {
  std::vector<std::pair<std::string, std::string>> found;  // reason, variants
  for (const ComparedRow* pair : pairs) {
    // What is in one file only says so in its verdict.
    if (pair->verdict != Verdict::not_compared || !pair->a || !pair->b) continue;
    auto known = std::find_if(found.begin(), found.end(),
                              [&](const auto& entry) { return entry.first == pair->cause; });
    if (known == found.end()) {
      found.emplace_back(pair->cause, pair->row().variant);
    } else {
      known->second += ", " + pair->row().variant;
    }
  }
  std::vector<Note> notes;
  for (const auto& [reason, variants] : found) {
    notes.push_back({not_run_cell(), variants + ": " + reason});
  }
  return notes;
}

}  // namespace

TimeRatio time_ratio(const Spread& a, const Spread& b, double threshold) {
  TimeRatio ratio;
  if (a.median_ms <= 0 || b.median_ms <= 0) return ratio;
  const auto or_median = [](double value, const Spread& of) {
    return value > 0 ? value : of.median_ms;
  };
  ratio.median = a.median_ms / b.median_ms;
  ratio.low = or_median(a.p10_ms, a) / or_median(b.p90_ms, b);
  ratio.high = or_median(a.p90_ms, a) / or_median(b.p10_ms, b);
  const double noise = std::max({a.repeat_spread, b.repeat_spread, threshold});
  ratio.tie = (ratio.low <= 1 && 1 <= ratio.high) || std::abs(ratio.median - 1) <= noise;
  return ratio;
}

int Comparison::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [&](const ComparedRow& pair) { return pair.verdict == verdict; }));
}

Comparison compare(const NamedResults& a, const NamedResults& b, double threshold) {
  Comparison comparison;
  comparison.a = a.name + ", " + a.results.date;
  comparison.b = b.name + ", " + b.results.date;
  comparison.machines = differences(a.results.machine, b.results.machine);
  // A file may hold a row twice (merged by hand): the n-th of A belongs to the n-th of B.
  std::multimap<std::string, const Row*> rest;
  for (const Row& row : b.results.rows) rest.emplace(key_of(row), &row);
  for (const Row& row : a.results.rows) {
    ComparedRow pair;
    pair.a = row;
    if (const auto found = rest.lower_bound(key_of(row));
        found != rest.end() && found->first == key_of(row)) {
      pair.b = *found->second;
      rest.erase(found);
    }
    comparison.rows.push_back(std::move(pair));
  }
  for (const Row& row : b.results.rows) {
    const bool left = std::any_of(rest.begin(), rest.end(),
                                  [&](const auto& entry) { return entry.second == &row; });
    if (left) comparison.rows.push_back({std::nullopt, row, {}, {}, Verdict::not_compared, ""});
  }
  for (ComparedRow& pair : comparison.rows) judge(pair, threshold);
  return comparison;
}

std::string render_comparison(const Comparison& comparison, const TableOptions& options) {
  if (options.format == Format::csv) return csv(comparison, options);
  Table head;
  head.notes = {{{"A:", Tone::strong}, comparison.a},
                {{"B:", Tone::strong}, comparison.b},
                {{}, "A/B is time in A / time in B: above 1, B is faster"}};
  if (!comparison.machines.empty()) {
    head.notes.push_back({{"MACHINES DIFFER:", Tone::caution}, comparison.machines});
  }
  std::string text = lay_out(head, options);
  const auto& rows = comparison.rows;
  std::vector<bool> done(rows.size(), false);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (done[at]) continue;
    Pairs group;
    for (std::size_t i = at; i < rows.size(); ++i) {
      if (rows[i].row().backend != rows[at].row().backend ||
          rows[i].row().problem != rows[at].row().problem) {
        continue;
      }
      group.push_back(&rows[i]);
      done[i] = true;
    }
    Table table = tabulate(
        shared_title(rows[at].row()), group,
        shown_fields(std::any_of(group.begin(), group.end(), [](const ComparedRow* pair) {
          return median_of(pair->a, &Time::cold) >= 0 || median_of(pair->b, &Time::cold) >= 0;
        })));
    table.notes = reasons(group);
    text += "\n" + lay_out(table, options);
  }
  Table last;
  last.notes = summary(comparison);
  return text + "\n" + lay_out(last, options);
}

}  // namespace halo
