#include "common/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "common/data/paper_claims.hpp"
#include "common/report/compare.hpp"
#include "common/report/row_tables.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

using Group = std::vector<std::pair<std::string, std::string>>;

// Rows of one backend and problem.
struct Contest {
  Rows rows;
};

std::vector<Contest> contests_of(const std::vector<Row>& rows) {
  std::vector<Contest> contests;
  std::map<std::string, std::size_t> known;
  for (const Row& row : rows) {
    const auto [at, fresh] =
        known.try_emplace(row.backend + "\n" + describe(row.problem), contests.size());
    if (fresh) contests.emplace_back();
    contests[at->second].rows.push_back(&row);
  }
  return contests;
}

const Spread& spread_of(const Row& row, bool cold) { return cold ? row.time.cold : row.time.hot; }

bool has_time(const Row& row, bool cold) {
  return timed(row) && spread_of(row, cold).median_ms > 0;
}

const Row* fastest(const Rows& rows, bool cold, const std::function<bool(const Row&)>& counts) {
  const Row* best = nullptr;
  for (const Row* row : rows) {
    if (!has_time(*row, cold) || !counts(*row)) continue;
    if (best == nullptr || spread_of(*row, cold).median_ms < spread_of(*best, cold).median_ms) {
      best = row;
    }
  }
  return best;
}

// The groups that a problem belongs to: all, and its own.
std::vector<Group> groups_of(const Problem& problem, const std::vector<std::string>& by) {
  std::vector<Group> groups = {{}};
  if (by.empty()) return groups;
  Group own;
  for (const std::string& field : by) own.emplace_back(field, exact_value(problem, field));
  groups.push_back(own);
  return groups;
}

// Standings while they are filled, in the order in which variants and groups are first met.
class Standings {
 public:
  explicit Standings(const std::vector<std::string>& by) : by_(by) {}

  // `ours` stands for the variant `row`, `theirs` for the best of the others; null if there is none.
  void add(const Row& row, const Row* ours, const Row* theirs, bool cold) {
    for (const Group& group : groups_of(row.problem, by_)) {
      Entry& entry = find(row, group, cold);
      if (ours == nullptr || theirs == nullptr) {
        ++entry.standing.not_run;
        continue;
      }
      const TimeRatio ratio = time_ratio(spread_of(*theirs, cold), spread_of(*ours, cold));
      Standing& standing = entry.standing;
      ++standing.problems;
      entry.logarithms += std::log(ratio.median);
      if (ratio.tie) {
        ++standing.ties;
      } else if (ratio.median > 1) {
        ++standing.wins;
        entry.sum_of_wins += ratio.median;
      } else {
        ++standing.losses;
      }
      const std::string problem = short_name(row);
      if (standing.best.ratio < 0 || ratio.median > standing.best.ratio) {
        standing.best = {ratio.median, problem};
      }
      if (standing.worst.ratio < 0 || ratio.median < standing.worst.ratio) {
        standing.worst = {ratio.median, problem};
      }
    }
  }

  // Those with something to compare; all problems of a variant first, then its groups by their
  // values.
  std::vector<Standing> finish() {
    std::vector<Standing> done;
    for (Entry& entry : entries_) {
      Standing& standing = entry.standing;
      if (standing.problems == 0) continue;
      standing.geometric_mean = std::exp(entry.logarithms / standing.problems);
      if (standing.wins > 0) standing.mean_of_wins = entry.sum_of_wins / standing.wins;
      done.push_back(standing);
    }
    const auto number = [](const std::string& text) {
      return text.empty() || text.find_first_not_of("0123456789") != text.npos ? -1L
                                                                               : std::stol(text);
    };
    const auto place = [&](const Standing& standing) {
      const auto first = std::find_if(done.begin(), done.end(), [&](const Standing& other) {
        return other.backend == standing.backend && other.stage == standing.stage &&
               other.variant == standing.variant && other.cold == standing.cold;
      });
      std::vector<long> key = {first - done.begin()};
      for (const auto& [field, value] : standing.group) key.push_back(number(value));
      return key;
    };
    std::vector<std::pair<std::vector<long>, Standing>> keyed;
    for (const Standing& standing : done) keyed.emplace_back(place(standing), standing);
    std::stable_sort(keyed.begin(), keyed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    done.clear();
    for (auto& [key, standing] : keyed) done.push_back(std::move(standing));
    return done;
  }

 private:
  struct Entry {
    Standing standing;
    double logarithms = 0;
    double sum_of_wins = 0;
  };

  Entry& find(const Row& row, const Group& group, bool cold) {
    std::string key = row.backend + "\n" + row.stage + "\n" + row.variant + (cold ? "\ncold" : "");
    for (const auto& [field, value] : group) key += "\n" + field + "=" + value;
    const auto [at, fresh] = known_.try_emplace(key, entries_.size());
    if (fresh) {
      entries_.emplace_back();
      Standing& standing = entries_.back().standing;
      standing.backend = row.backend;
      standing.stage = row.stage;
      standing.variant = row.variant;
      standing.cold = cold;
      standing.group = group;
    }
    return entries_[at->second];
  }

  const std::vector<std::string>& by_;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> known_;
};

const Row* itself(const Row& row, bool cold) { return has_time(row, cold) ? &row : nullptr; }

// Calls visit(contest, row, cold) for each variant in each contest, hot and then cold.
void for_each_variant(const std::vector<Row>& rows,
                      const std::function<void(const Contest&, const Row&, bool)>& visit) {
  const std::vector<Contest> contests = contests_of(rows);
  for (const bool cold : {false, true}) {
    for (const Contest& contest : contests) {
      for (const Row* row : contest.rows) {
        if (row->role == Role::variant) visit(contest, *row, cold);
      }
    }
  }
}

}  // namespace

std::vector<Standing> against_peers(const std::vector<Row>& rows,
                                    const std::vector<std::string>& by) {
  Standings standings(by);
  for_each_variant(rows, [&](const Contest& contest, const Row& row, bool cold) {
    const Row* peer =
        fastest(contest.rows, cold, [](const Row& other) { return other.role == Role::peer; });
    standings.add(row, itself(row, cold), peer, cold);
  });
  return standings.finish();
}

std::vector<Standing> against_stage(const std::vector<Row>& rows,
                                    const std::vector<std::string>& by) {
  Standings standings(by);
  for_each_variant(rows, [&](const Contest& contest, const Row& row, bool cold) {
    if (!row.runs_as.empty()) return;
    const Row* other = fastest(contest.rows, cold, [&](const Row& one) {
      return one.role == Role::variant && one.stage == row.stage && one.variant != row.variant &&
             one.runs_as.empty();
    });
    standings.add(row, itself(row, cold), other, cold);
  });
  return standings.finish();
}

std::vector<Standing> choices(const std::vector<Row>& rows, const std::vector<std::string>& by) {
  Standings standings(by);
  for_each_variant(rows, [&](const Contest& contest, const Row& row, bool cold) {
    if (row.runs_as.empty()) return;
    const auto is = [&](const Row& one, const std::string& name) {
      return one.role == Role::variant && one.stage == row.stage && one.variant == name;
    };
    const Row* chosen =
        fastest(contest.rows, cold, [&](const Row& one) { return is(one, row.runs_as); });
    const Row* other = fastest(contest.rows, cold, [&](const Row& one) {
      return one.variant != row.runs_as &&
             std::any_of(row.chooses_from.begin(), row.chooses_from.end(),
                         [&](const std::string& name) { return is(one, name); });
    });
    standings.add(row, chosen, other, cold);
  });
  return standings.finish();
}

namespace {

using StandingField = Field<Standing>;

std::string group_text(const Standing& standing) {
  if (standing.group.empty()) return "all";
  std::string text;
  for (const auto& [field, value] : standing.group) {
    text += (text.empty() ? "" : ", ") + field + " " + value;
  }
  return text;
}

std::string extreme_text(const Extreme& extreme) {
  return fixed(extreme.ratio, 2) + " (" + extreme.problem + ")";
}

const data::PaperClaim* claim_of(const Standing& standing) {
  const auto same = [&](const data::PaperClaim& claim) {
    return claim.stage == standing.stage &&
           std::find(claim.variants.begin(), claim.variants.end(), standing.variant) !=
               claim.variants.end() &&
           claim.layers.size() == standing.group.size() &&
           std::all_of(claim.layers.begin(), claim.layers.end(), [&](const auto& field) {
             return std::find(standing.group.begin(), standing.group.end(), field) !=
                    standing.group.end();
           });
  };
  const auto& claims = data::paper_claims();
  const auto found = std::find_if(claims.begin(), claims.end(), same);
  return found == claims.end() ? nullptr : &*found;
}

// The stage's number: "09".
std::string stage_number(const std::string& stage) {
  return stage.substr(0, stage.find_first_not_of("0123456789"));
}

std::vector<StandingField> fields_of(const std::vector<const Standing*>& standings,
                                     const char* wins, bool claims) {
  const auto any = [&](const std::function<bool(const Standing&)>& test) {
    return std::any_of(standings.begin(), standings.end(),
                       [&](const Standing* standing) { return test(*standing); });
  };
  std::vector<StandingField> fields = {
      {"stage", false, [](const Standing& one) { return Cell{stage_number(one.stage)}; }},
      {"variant", false, [](const Standing& one) { return Cell{one.variant}; }}};
  if (any([](const Standing& one) { return one.cold; })) {
    fields.push_back(
        {"cache", false, [](const Standing& one) { return Cell{one.cold ? "cold" : "hot"}; }});
  }
  fields.push_back({"problems", false, [](const Standing& one) { return Cell{group_text(one)}; }});
  const auto count = [&](const char* header, int Standing::*figure) {
    fields.push_back({header, true,
                      [figure](const Standing& one) { return Cell{std::to_string(one.*figure)}; }});
  };
  count("compared", &Standing::problems);
  fields.push_back(
      {"geomean", true, [](const Standing& one) { return Cell{fixed(one.geometric_mean, 2)}; }});
  count(wins, &Standing::wins);
  count("ties", &Standing::ties);
  count(wins == std::string("wins") ? "losses" : "wrong", &Standing::losses);
  fields.push_back(
      {"mean of wins", true, [](const Standing& one) { return Cell{fixed(one.mean_of_wins, 2)}; }});
  fields.push_back(
      {"best", false, [](const Standing& one) { return Cell{extreme_text(one.best)}; }});
  fields.push_back(
      {"worst", false, [](const Standing& one) { return Cell{extreme_text(one.worst)}; }});
  if (any([](const Standing& one) { return one.not_run > 0; }))
    count("NOT RUN", &Standing::not_run);
  if (claims && any([](const Standing& one) { return claim_of(one) != nullptr; })) {
    fields.push_back({"the paper's", false, [](const Standing& one) {
                        const data::PaperClaim* claim = claim_of(one);
                        return Cell{claim == nullptr ? "-" : claim->claim};
                      }});
  }
  return fields;
}

std::vector<const Standing*> pointers(const std::vector<Standing>& standings) {
  std::vector<const Standing*> all;
  for (const Standing& standing : standings) all.push_back(&standing);
  return all;
}

// One line for each standing, all figures in full.
std::string csv(const std::vector<std::pair<std::string, std::vector<Standing>>>& parts,
                const TableOptions& options) {
  struct Line {
    std::string against;
    const Standing* standing;
  };
  std::vector<Line> lines;
  for (const auto& [against, standings] : parts) {
    for (const Standing& standing : standings) lines.push_back({against, &standing});
  }
  std::vector<const Line*> items;
  for (const Line& line : lines) items.push_back(&line);
  std::vector<Field<Line>> fields;
  const auto text = [&](const char* name, std::function<std::string(const Standing&)> value) {
    fields.push_back(
        {name, false, [value](const Line& line) { return Cell{value(*line.standing)}; }});
  };
  fields.push_back({"against", false, [](const Line& line) { return Cell{line.against}; }});
  text("backend", [](const Standing& one) { return one.backend; });
  text("stage", [](const Standing& one) { return one.stage; });
  text("variant", [](const Standing& one) { return one.variant; });
  text("cache", [](const Standing& one) { return std::string(one.cold ? "cold" : "hot"); });
  text("problems", group_text);
  const std::pair<const char*, int Standing::*> counts[] = {{"compared", &Standing::problems},
                                                            {"not_run", &Standing::not_run},
                                                            {"wins", &Standing::wins},
                                                            {"ties", &Standing::ties},
                                                            {"losses", &Standing::losses}};
  for (const auto& [name, figure] : counts) {
    text(name, [at = figure](const Standing& one) { return std::to_string(one.*at); });
  }
  text("geometric_mean_ratio", [](const Standing& one) { return exact(one.geometric_mean); });
  text("mean_of_wins_ratio", [](const Standing& one) { return exact(one.mean_of_wins); });
  text("best_ratio", [](const Standing& one) { return exact(one.best.ratio); });
  text("best_problem", [](const Standing& one) { return one.best.problem; });
  text("worst_ratio", [](const Standing& one) { return exact(one.worst.ratio); });
  text("worst_problem", [](const Standing& one) { return one.worst.problem; });
  text("claim", [](const Standing& one) {
    const data::PaperClaim* claim = claim_of(one);
    return claim == nullptr ? std::string() : claim->claim;
  });
  return lay_out(tabulate("", items, fields), options);
}

}  // namespace

std::string render_summary(const std::vector<Row>& rows, const std::vector<std::string>& by,
                           const TableOptions& options) {
  const std::vector<Standing> peers = against_peers(rows, by);
  const std::vector<Standing> stages = against_stage(rows);
  const std::vector<Standing> chosen = choices(rows, by);
  if (options.format == Format::csv) {
    return csv({{"library", peers}, {"stage", stages}, {"choice", chosen}}, options);
  }
  std::string text;
  const auto add = [&](const char* title, const std::vector<Standing>& standings, const char* wins,
                       bool claims, const char* explanation) {
    if (standings.empty()) return;
    const auto items = pointers(standings);
    Table table = tabulate(title, items, fields_of(items, wins, claims));
    table.notes.push_back({{}, explanation});
    std::vector<std::string> sources;
    for (const Standing& standing : standings) {
      const data::PaperClaim* claim = claims ? claim_of(standing) : nullptr;
      if (claim == nullptr) continue;
      if (std::find(sources.begin(), sources.end(), claim->source) == sources.end()) {
        sources.push_back(claim->source);
      }
    }
    for (const std::string& source : sources) {
      table.notes.push_back({{"the paper's:", Tone::strong}, source});
    }
    text += (text.empty() ? "" : "\n") + lay_out(table, options);
  };
  add("Against the fastest library of each problem", peers, "wins", true,
      "geomean, best, worst: the library's time / this time. A tie is a difference inside the "
      "measurement's own spread. mean of wins: the arithmetic mean over the problems that were "
      "won");
  add("Against the fastest other variant of the same stage", stages, "wins", false,
      "the best other variant's time / this time: over 1 on the problems where this one is the "
      "fastest");
  add("Choices", chosen, "right", false,
      "time of the fastest that was not chosen / time of the one that was: over 1 where the choice "
      "was right");
  if (text.empty()) {
    Table nothing;
    nothing.notes.push_back({{"NOT RUN:", Tone::caution}, "no two rows have times to compare"});
    return lay_out(nothing, options);
  }
  return text;
}

std::string render_brief(const std::vector<Row>& rows, const TableOptions& options) {
  constexpr std::size_t kMostTables = 40;
  std::vector<Row> with_times;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(with_times), timed);
  if (options.format == Format::csv || contests_of(with_times).size() <= kMostTables) {
    return render_table(rows, options);
  }
  return render_summary(rows, {}, options) + all_faults(rows, options);
}

}  // namespace halo
