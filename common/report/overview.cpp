#include "common/report/overview.hpp"

#include <algorithm>
#include <set>

#include "common/report/command_line.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

constexpr std::size_t kNameWidth = 26;  // multi_channel_stride_fixed

// As exit_status: traffic that differs is no failure, but is told.
bool is_bad(const Row& row) {
  return row.check.outcome == Outcome::bad || row.hazards.outcome == Outcome::bad ||
         row.time.outcome == Outcome::bad;
}

// A row may be about a whole program, which ended before it told of any variant: "(program)".
bool is_variant(const Row& row) {
  return row.role == Role::variant && !row.variant.starts_with("(");
}

// A variant has a row for each problem.
using VariantName = std::pair<std::string, std::string>;
VariantName variant_of(const Row& row) { return {row.stage, row.variant}; }

std::string plural(std::size_t count, const std::string& word) {
  return with_commas(static_cast<std::int64_t>(count)) + " " + word + (count == 1 ? "" : "s");
}

// The stage's name without its number: "conv1d_tiled_halo".
std::string bare_name(const Row& row) {
  const std::string number = stage_label(row);
  return row.stage.size() > number.size() + 1 ? row.stage.substr(number.size() + 1) : row.stage;
}

// The field of that name, or empty.
std::string field_of(const Row& row, const std::string& name) {
  return exact_value(row.problem, name);
}

// Ways to say a figure, the longest first.
using Ways = std::vector<std::string>;

Ways timed_figure(const Rows& rows) {
  const Row* best = nullptr;
  for (const Row* row : rows) {
    if (row->role != Role::variant || !timed(*row)) continue;
    if (best != nullptr && row->problem != best->problem) continue;
    if (best == nullptr || row->time.hot.median_ms < best->time.hot.median_ms) best = row;
  }
  if (best == nullptr) return {};
  const Time& time = best->time;
  std::string text;
  if (time.share_of_fp32 > time.share_of_copy) {
    text = rounded(time.gflop_per_s) + " GFLOP/s, " + fixed(100 * time.share_of_fp32, 0) +
           " % of fp32";
  } else {
    text = rounded(time.cold_gb_per_s > 0 ? time.cold_gb_per_s : time.gb_per_s) + " GB/s";
    if (time.share_of_copy > 0) text += ", " + fixed(100 * time.share_of_copy, 0) + " % of a copy";
  }
  return {"fastest " + best->variant + " " + text, best->variant + " " + text, text};
}

Ways counted_figure(const Rows& rows) {
  const Row* least = nullptr;
  for (const Row* row : rows) {
    const double bytes = row->traffic.bytes_per_output_counted;
    if (row->role != Role::variant || bytes < 0) continue;
    if (least != nullptr && row->problem != least->problem) continue;
    if (least == nullptr || bytes < least->traffic.bytes_per_output_counted) least = row;
  }
  if (least == nullptr) return {};
  const std::string text = fixed(least->traffic.bytes_per_output_counted, 2) + " bytes/output";
  return {text + ", " + least->variant, text};
}

std::string fitting(const Ways& ways, std::size_t before, const TableOptions& options) {
  for (const std::string& way : ways) {
    if (options.width <= 0 || before + way.size() <= static_cast<std::size_t>(options.width)) {
      return way;
    }
  }
  return "";
}

// "FAIL tiled_halo, warp_tile".
std::string bad_names(const Rows& rows) {
  std::vector<std::string> names;
  for (const Row* row : rows) {
    if (is_bad(*row) && std::find(names.begin(), names.end(), row->variant) == names.end()) {
      names.push_back(row->variant);
    }
  }
  return listed(names);
}

// The reason up to its figures: those of three networks are one.
std::string bare_reason(const std::string& reason) { return reason.substr(0, reason.find(':')); }

// Things that were not run for one reason.
class NotRun {
 public:
  void add(const std::string& what, const std::string& reason) {
    if (reason.empty()) return;
    const std::string bare = bare_reason(reason);
    auto known =
        std::find_if(all_.begin(), all_.end(), [&](const auto& one) { return one.first == bare; });
    if (known == all_.end()) known = all_.insert(all_.end(), {bare, {}});
    auto& names = known->second;
    if (std::find(names.begin(), names.end(), what) == names.end()) names.push_back(what);
  }
  std::vector<Note> notes() const {
    std::vector<Note> notes;
    for (const auto& [reason, what] : all_) {
      notes.push_back({not_run_cell(), listed(what) + ": " + reason});
    }
    return notes;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> all_;
};

// A problem's name in its stage: a network's, or in a word.
std::string problem_name(const Row& row) {
  const std::string network = field_of(row, "network");
  return stage_label(row) + " " + (network.empty() ? short_name(row) : network);
}

std::vector<Note> not_run_notes(const std::vector<Row>& rows) {
  std::set<VariantName> ran;
  std::set<std::pair<std::string, Problem>> problems_run;
  for (const Row& row : rows) {
    if (row.check.outcome == Outcome::not_run) continue;
    ran.insert(variant_of(row));
    problems_run.insert({row.stage, row.problem});
  }
  NotRun all;
  for (const Row& row : rows) {
    const bool checked = row.check.outcome != Outcome::not_run;
    if (is_bad(row)) continue;
    if (checked && row.time.outcome == Outcome::not_run) {
      all.add(row.backend == "sim" ? "times" : "the time of " + row.variant, row.time.reason);
    }
    if (checked && row.backend == "sim" && row.hazards.outcome == Outcome::not_run) {
      all.add("hazards and traffic of " + row.variant, row.hazards.reason);
    }
    if (checked && !row.check.large.reason.empty()) {
      all.add(stage_label(row) + " " + row.variant + " near 2^31 cells", row.check.large.reason);
    }
    if (!checked && ran.count(variant_of(row)) == 0) {
      all.add(stage_label(row) + " " + row.variant, row.check.reason);
    } else if (!checked && problems_run.count({row.stage, row.problem}) == 0) {
      // Nobody's: of the others some refuse a problem that is not for them.
      all.add(problem_name(row), row.check.reason);
    }
  }
  return all.notes();
}

}  // namespace

std::string render_stage_line(const std::vector<Row>& rows, const TableOptions& options,
                              const std::string& number) {
  Rows all;
  std::set<VariantName> checked;
  bool bad = false;
  for (const Row& row : rows) {
    all.push_back(&row);
    bad |= is_bad(row);
    if (is_variant(row) && row.check.outcome != Outcome::not_run) {
      checked.insert(variant_of(row));
    }
  }
  if (all.empty()) return "";
  const auto named = std::find_if(all.begin(), all.end(),
                                  [](const Row* row) { return row->role == Role::variant; });
  const Row& of = named == all.end() ? *all.front() : **named;
  std::string name = bare_name(of);
  name.resize(std::max(name.size(), kNameWidth), ' ');
  const std::string count = plural(checked.size(), "variant");
  const std::string label = number.empty() ? stage_label(of) : number;
  // "10a" takes a letter of the name's room.
  if (label.size() > 2 && name.ends_with(' ')) name.pop_back();
  std::string line = label + " " + name + " " +
                     std::string(count.size() < 11 ? 11 - count.size() : 0, ' ') + count + "  ";
  if (bad) {
    return line + paint("FAIL", Tone::bad, options) + "  " + bad_names(all) + "\n" +
           all_faults(rows, options);
  }
  if (checked.empty()) {
    const std::string reason =
        of.check.reason.empty() ? std::string() : ": " + bare_reason(of.check.reason);
    return line + paint(not_run_cell().text, Tone::caution, options) + reason + "\n";
  }
  line += paint("ok", Tone::good, options);
  Ways ways = timed_figure(all);
  if (ways.empty()) ways = counted_figure(all);
  constexpr std::size_t kBefore = 3 + kNameWidth + 1 + 11 + 2 + 4;
  const std::string figure = fitting(ways, kBefore, options);
  return line + (figure.empty() ? "" : "  " + figure) + "\n" + all_faults(rows, options);
}

std::string render_own_data(const std::vector<Row>& rows, const std::string& input,
                            const std::string& wrote, const TableOptions& options) {
  std::string right;
  std::string costs;
  std::string searched;
  int count = 0;
  bool times = false;
  for (const Row& row : rows) {
    if (row.role != Role::variant || row.check.outcome != Outcome::good) continue;
    ++count;
    right += (right.empty() ? "" : ", ") + row.variant;
    times |= timed(row);
    if (row.hazards.outcome == Outcome::good) searched = ", no hazards";
  }
  for (const Row& row : rows) {
    if (row.role != Role::variant || row.check.outcome != Outcome::good) continue;
    const double figure = times ? row.time.hot.median_ms : row.traffic.bytes_per_output_counted;
    if (figure < 0) continue;
    costs += (costs.empty() ? "" : ", ") + row.variant + " " +
             (times ? rounded(figure) : fixed(figure, 2));
  }
  std::string text = wrote.empty() ? input + ": " : wrote + "; ";
  text += "checked against a reference in double precision: right" + searched;
  text = wrapped(text, options) + "\n";
  if (wrote.empty() || count > 1) {
    text += wrapped(plural(static_cast<std::size_t>(count), "variant") +
                        (count == 1 ? " is" : " are") + " right: " + right,
                    options) +
            "\n";
  }
  if (!costs.empty()) {
    text += wrapped((times ? "ms: " : "bytes per output: ") + costs, options) + "\n";
  }
  return text;
}

std::string render_sum(const std::vector<Row>& rows, double seconds, const TableOptions& options) {
  std::set<std::string> stages;
  std::set<VariantName> variants;
  std::vector<std::string> bad;  // stages, by their labels
  std::int64_t shapes = 0;
  int large = 0;
  bool hazards = false;
  bool traffic = false;
  std::vector<std::string> differs;  // variants
  for (const Row& row : rows) {
    if (is_bad(row)) {
      const std::string label = stage_label(row);
      if (std::find(bad.begin(), bad.end(), label) == bad.end()) bad.push_back(label);
    }
    const std::string variant = stage_label(row) + " " + row.variant;
    if (row.traffic.outcome == Outcome::bad &&
        std::find(differs.begin(), differs.end(), variant) == differs.end()) {
      differs.push_back(variant);
    }
    hazards |= row.hazards.outcome != Outcome::not_run;
    traffic |= row.traffic.outcome != Outcome::not_run;
    if (row.role == Role::variant && row.check.outcome != Outcome::not_run)
      stages.insert(row.stage);
    if (!is_variant(row) || row.check.outcome == Outcome::not_run) continue;
    variants.insert(variant_of(row));
    shapes += row.check.shapes;
    large += row.check.large.tried;
  }
  std::string text = plural(stages.size(), "stage") + ", " + plural(variants.size(), "variant") +
                     ", " + plural(static_cast<std::size_t>(shapes), "shape");
  if (large > 0) text += " (a few blocks of " + std::to_string(large) + " near 2^31 cells)";
  if (bad.empty() && hazards) text += ", 0 hazards";
  if (differs.empty() && bad.empty() && traffic) text += ", traffic as predicted";
  if (!differs.empty()) text += ", traffic of " + listed(differs) + " not as predicted";
  text += ", " + fixed(seconds, seconds < 10 ? 1 : 0) + " s";
  Table table;
  if (!bad.empty()) {
    table.notes.push_back({{"FAIL:", Tone::bad}, listed(bad) + "; of " + text});
  } else if (stages.empty()) {
    table.notes.push_back({not_run_cell(), "nothing could be run"});
  } else {
    table.notes.push_back({{"all good:", Tone::good}, text});
  }
  for (Note& note : not_run_notes(rows)) table.notes.push_back(std::move(note));
  for (Note& note : unreached_notes(rows)) table.notes.push_back(std::move(note));
  return lay_out(table, options);
}

}  // namespace halo
