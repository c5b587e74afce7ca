// Results as text: our table, and the machine it comes from.
#include "common/report/row_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/report/command_line.hpp"
#include "common/report/text.hpp"

namespace halo {

namespace {

using RowField = Field<Row>;

// Columns are plain functions: std::function's templates for each lambda are a quarter of what this file takes to compile.
bool any(const Rows& rows, bool (*test)(const Row&)) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row* row) { return test(*row); });
}

RowField field(const char* header, bool right, Cell (*cell)(const Row&), bool may_go = false) {
  return {header, right, cell, may_go};
}

bool saw_hazards(const Row& row) { return row.hazards.outcome != Outcome::not_run; }
bool counted_traffic(const Row& row) { return row.traffic.outcome != Outcome::not_run; }
// Times of more than one kind, which have columns of their own.
bool has_kinds(const Row& row) {
  return row.time.cold.median_ms >= 0 || row.time.transfers.median_ms >= 0;
}
bool overlaps(const Row& row) { return row.time.overlapped.median_ms >= 0; }
bool packs(const Row& row) { return row.time.packing_ms >= 0; }

std::string percent(double share) { return share < 0 ? "-" : fixed(share * 100, 1); }

// ---- Our table ----

std::vector<RowField> name_fields(const Rows& rows) {
  std::vector<RowField> fields = {
      field("stage", false, [](const Row& row) { return Cell{stage_label(row)}; }),
      field("variant", false, [](const Row& row) { return Cell{row.variant}; })};
  if (any(rows, [](const Row& row) { return !row.layout.empty(); })) {
    fields.push_back(field("layout", false, [](const Row& row) {
      return Cell{row.layout.empty() ? "nchw" : row.layout};
    }));
  }
  fields.push_back(field("check", false, [](const Row& row) {
    return outcome_cell(row.check.outcome, "PASS", "FAIL");
  }));
  return fields;
}

Cell worst_error(const Row& row) {
  if (row.check.shapes == 0) return {"-"};
  const double share = row.check.worst_share;
  // How wrong a wrong result is does not matter past a point.
  if (share > 999) return {">999"};
  // On which side of the bound it is must show: 0.998 is no 1.0, nor is 1.04.
  for (const int digits : {2, 3, 4, 5}) {
    const std::string text = rounded(share, digits);
    if (share == 1 || text.find_first_not_of("10.") != std::string::npos || text[0] != '1') {
      return {text};
    }
  }
  return {share > 1 ? ">1" : "<1"};
}

RowField hazards_field() {
  return field("hazards", false,
               [](const Row& row) { return outcome_cell(row.hazards.outcome, "none", "FOUND"); });
}

std::vector<RowField> traffic_fields(const Rows& rows) {
  std::vector<RowField> fields = {field("traffic", false, [](const Row& row) {
    return outcome_cell(row.traffic.outcome, "EQUAL", "DIFFERS");
  })};
  if (any(rows, counted_traffic)) {
    fields.push_back(field("sectors/req", true, [](const Row& row) {
      return Cell{fixed(row.traffic.sectors_per_request, 2)};
    }));
    fields.push_back(field("bytes/output", true, [](const Row& row) {
      return Cell{fixed(row.traffic.bytes_per_output_counted, 2)};
    }));
    // EQUAL says it already.
    if (any(rows, [](const Row& row) { return row.traffic.outcome == Outcome::bad; })) {
      fields.push_back(field("predicted bytes/output", true, [](const Row& row) {
        return Cell{fixed(row.traffic.bytes_per_output_predicted, 2)};
      }));
    }
    fields.push_back(field("conflicts", true, [](const Row& row) {
      const double count = row.traffic.shared_conflicts;
      return Cell{count < 0 ? "-" : with_commas(static_cast<std::int64_t>(count))};
    }));
  }
  return fields;
}

// Small problems that were tried. (Older results count the row's own among them.)
Cell trials(const Row& row) {
  const int count = row.check.trials > 0 ? row.check.trials : row.check.shapes - 1;
  return {count > 0 ? std::to_string(count) : "-"};
}

// Where nothing was timed: what the simulator says. What was not run of any row has no column: the notes
// say why.
std::vector<RowField> counted_fields(const Rows& rows) {
  std::vector<RowField> fields = name_fields(rows);
  fields.push_back(field("trials", true, trials, true));
  fields.push_back(field("error/bound", true, worst_error, true));
  if (any(rows, saw_hazards)) fields.push_back(hazards_field());
  if (any(rows, counted_traffic)) {
    for (RowField& field : traffic_fields(rows)) fields.push_back(std::move(field));
  }
  if (any(rows, [](const Row& row) { return row.time.outcome != Outcome::not_run; })) {
    fields.push_back(field("time", false, [](const Row& row) {
      return outcome_cell(row.time.outcome, "MEASURED", "FAIL");
    }));
  }
  return fields;
}

std::vector<RowField> timed_fields(const Rows& rows) {
  std::vector<RowField> fields = name_fields(rows);
  fields.push_back(field("err/bound", true, worst_error, true));
  if (any(rows, saw_hazards)) fields.push_back(hazards_field());
  if (any(rows, counted_traffic)) {
    for (RowField& field : traffic_fields(rows)) fields.push_back(std::move(field));
  }
  const auto figure = [&](const char* header, std::string (*text)(const Time&)) {
    fields.push_back({header, true,
                      [text](const Row& row) { return Cell{timed(row) ? text(row.time) : "-"}; },
                      true});
  };
  const bool cold = any(rows, [](const Row& row) { return row.time.cold.median_ms >= 0; });
  fields.push_back(field(cold ? "hot ms" : "ms", true, [](const Row& row) {
    if (timed(row)) return Cell{rounded(row.time.hot.median_ms)};
    return outcome_cell(row.time.outcome, "", "FAIL");
  }));
  figure("p10-p90", [](const Time& time) {
    if (time.hot.p10_ms < 0) return std::string("-");
    return rounded(time.hot.p10_ms) + "-" + rounded(time.hot.p90_ms);
  });
  if (any(rows, overlaps)) {
    figure("overlapped ms", [](const Time& time) { return rounded(time.overlapped.median_ms); });
  }
  figure("cold ms", [](const Time& time) { return rounded(time.cold.median_ms); });
  figure("total ms", [](const Time& time) { return rounded(time.transfers.median_ms); });
  if (any(rows, packs)) {
    figure("packing ms", [](const Time& time) { return rounded(time.packing_ms); });
  }
  // The bandwidth that the share of the roof is about.
  if (any(rows, [](const Row& row) { return row.time.cold_gb_per_s >= 0; })) {
    figure("cold GB/s", [](const Time& time) { return rounded(time.cold_gb_per_s); });
  } else {
    figure("GB/s", [](const Time& time) { return rounded(time.gb_per_s); });
  }
  figure("%copy", [](const Time& time) { return percent(time.share_of_copy); });
  figure("GFLOP/s", [](const Time& time) { return rounded(time.gflop_per_s); });
  figure("%fp32", [](const Time& time) { return percent(time.share_of_fp32); });
  figure("x before", [](const Time& time) { return fixed(time.ratio_to_previous, 2); });
  figure("x copy", [](const Time& time) { return fixed(time.ratio_to_copy, 2); });
  figure("x peer", [](const Time& time) { return fixed(time.ratio_to_best_peer, 2); });
  figure("A/A %", [](const Time& time) { return percent(time.hot.repeat_spread); });
  return fields;
}

bool has_times(const Rows& rows) { return any(rows, timed); }

// What a reader of the times must know: whose ratio it is, and what disturbed the clock.
std::vector<Note> time_notes(const Rows& rows) {
  std::vector<Note> notes;
  std::vector<std::pair<std::string, std::vector<std::string>>> peers;  // and who is set against it
  std::vector<std::string> throttled;
  std::vector<std::string> slow;
  std::vector<std::string> over;
  for (const Row* row : rows) {
    if (!timed(*row)) continue;
    const Time& time = row->time;
    if (!time.best_peer.empty()) {
      auto known = std::find_if(peers.begin(), peers.end(),
                                [&](const auto& peer) { return peer.first == time.best_peer; });
      if (known == peers.end()) known = peers.insert(peers.end(), {time.best_peer, {}});
      known->second.push_back(row->variant);
    }
    if (time.discarded_rounds > 0) {
      throttled.push_back(row->variant + " " + std::to_string(time.discarded_rounds));
    }
    if (time.low_clock_mhz >= 0) {
      slow.push_back(row->variant + " at " + fixed(time.low_clock_mhz, 0) + " MHz");
    }
    if (time.share_of_copy > 1.02) over.push_back(row->variant);
  }
  // The fastest peer is everyone's but its own: its own best is another.
  std::stable_sort(peers.begin(), peers.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  if (!peers.empty()) {
    std::string text = "x peer: " + peers[0].first + "'s time / this time";
    for (std::size_t i = 1; i < peers.size(); ++i) {
      text += (i == 1 ? " (" : ", ") + listed(peers[i].second) + " against " + peers[i].first;
    }
    notes.push_back({{}, text + (peers.size() > 1 ? ")" : "")});
  }
  if (!throttled.empty()) {
    notes.push_back({{"THROTTLED:", Tone::caution},
                     "rounds left out because the clock was low: " + listed(throttled)});
  }
  if (!slow.empty()) {
    notes.push_back({{"THROTTLED:", Tone::caution},
                     "timed at a low clock, which it kept through two tries: " + listed(slow)});
  }
  if (!over.empty()) {
    notes.push_back({{},
                     "%copy over 100: part of the data was still in a cache, or the roof was "
                     "measured at a slower moment (" +
                         listed(over) + ")"});
  }
  return notes;
}

// What the variants chose inside.
std::vector<Note> inside_notes(const Rows& rows) {
  std::vector<Note> notes;
  for (const Row* row : rows) {
    std::string inside = row->runs_as.empty() ? "" : "runs as " + row->runs_as;
    if (!row->detail.empty()) inside += (inside.empty() ? "" : "; ") + row->detail;
    if (!inside.empty()) notes.push_back({{row->variant + ":", Tone::strong}, inside});
  }
  return notes;
}

constexpr const char* kKindsLegend =
    "hot: all calls on the same arrays. cold: on arrays that the cache has lost. total: one call "
    "with both transfers.";
constexpr const char* kLegend =
    "p10-p90: eight of ten rounds took between these. %copy, %fp32: shares of the roofs. x: time "
    "of the variant before, of the copy, of the fastest peer / this time. A/A %: what the same "
    "code differs by.";

constexpr const char* kOverlappedLegend =
    "overlapped: as hot, but a call may begin before the one before it has ended; no ratio uses "
    "it.";
constexpr const char* kPackingLegend =
    "packing: of the filters, once for any number of calls; of the other times only total contains "
    "it.";

constexpr const char* kCountedLegend =
    "trials: small shapes that were tried first. error/bound: the worst error, as a share of what "
    "rounding may cause; over 1 is wrong.";

// Below all tables, each once: what the columns mean, what has no column and why, and what the peers
// are.
std::vector<Note> shared_notes(const std::vector<Row>& rows) {
  std::vector<Note> notes;
  const auto add = [&](Note note) {
    const bool known = std::any_of(notes.begin(), notes.end(), [&](const Note& other) {
      return other.mark.text == note.mark.text && other.text == note.text;
    });
    if (!known) notes.push_back(std::move(note));
  };
  // What the table of a problem has columns for.
  struct Columns {
    bool time = false;
    bool hazards = false;
    bool traffic = false;
  };
  std::map<std::pair<std::string, Problem>, Columns> tables;
  for (const Row& row : rows) {
    Columns& table = tables[{row.backend, row.problem}];
    table.time |= timed(row) || row.time.outcome == Outcome::bad;
    table.hazards |= saw_hazards(row);
    table.traffic |= counted_traffic(row);
  }
  const bool one_backend = std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return row.backend == rows.front().backend;
  });
  for (const Row& row : rows) {
    if (row.check.outcome == Outcome::not_run || !row.check.crash.empty()) continue;
    const Columns& table = tables[{row.backend, row.problem}];
    if (!table.time) {
      add({{}, kCountedLegend});
    } else if (timed(row)) {
      if (has_kinds(row)) add({{}, kKindsLegend});
      add({{}, kLegend});
      if (overlaps(row)) add({{}, kOverlappedLegend});
      if (packs(row)) add({{}, kPackingLegend});
    }
    for (const auto& [name, reason, has_column] :
         {std::tuple{std::string("hazards"), row.hazards.reason, table.hazards},
          {"traffic", row.traffic.reason, table.traffic},
          {"time", row.time.reason, table.time}}) {
      if (has_column || reason.empty()) continue;
      add({not_run_cell(), name + (one_backend ? "" : ", " + row.backend) + ": " + reason});
    }
  }
  std::vector<std::string> large;
  for (const Row& row : rows) {
    const LargeProblems& found = row.check.large;
    if (found.tried > 0) large.push_back(row.variant + " " + std::to_string(found.tried));
    if (!found.reason.empty())
      add({not_run_cell(), "large of " + row.variant + ": " + found.reason});
  }
  if (!large.empty()) {
    add({{},
         "large: of the trials those near 2^31 cells, of which a few blocks were run: " +
             listed(large)});
  }
  for (const Row& row : rows) {
    if (row.role == Role::variant || row.description.empty()) continue;
    add({{stage_label(row) + " " + row.variant + ":", Tone::strong}, row.description});
  }
  return notes;
}

// ---- CSV ----

std::vector<RowField> csv_fields(const Rows& rows) {
  std::vector<RowField> fields =
      identity_fields<Row>(rows, [](const Row& row) -> const Row& { return row; });
  const auto text = [&](const char* name, std::string (*value)(const Row&)) {
    fields.push_back({name, false, [value](const Row& row) { return Cell{value(row)}; }});
  };
  const auto number = [&](const char* name, double (*value)(const Row&)) {
    fields.push_back({name, false, [value](const Row& row) { return Cell{exact(value(row))}; }});
  };
  text("check",
       [](const Row& row) { return outcome_cell(row.check.outcome, "PASS", "FAIL").text; });
  text("check_reason", [](const Row& row) { return row.check.reason; });
  text("shapes", [](const Row& row) { return std::to_string(row.check.shapes); });
  number("worst_error_per_bound",
         [](const Row& row) { return row.check.shapes > 0 ? row.check.worst_share : -1; });
  text("hazards",
       [](const Row& row) { return outcome_cell(row.hazards.outcome, "none", "FOUND").text; });
  text("hazards_reason", [](const Row& row) { return row.hazards.reason; });
  text("traffic",
       [](const Row& row) { return outcome_cell(row.traffic.outcome, "EQUAL", "DIFFERS").text; });
  text("traffic_reason", [](const Row& row) { return row.traffic.reason; });
  number("sectors_per_request", [](const Row& row) { return row.traffic.sectors_per_request; });
  number("bytes_per_output_counted",
         [](const Row& row) { return row.traffic.bytes_per_output_counted; });
  number("bytes_per_output_predicted",
         [](const Row& row) { return row.traffic.bytes_per_output_predicted; });
  number("shared_conflicts", [](const Row& row) { return row.traffic.shared_conflicts; });
  text("time",
       [](const Row& row) { return outcome_cell(row.time.outcome, "MEASURED", "FAIL").text; });
  text("time_reason", [](const Row& row) { return row.time.reason; });
  text("method", [](const Row& row) { return row.time.method; });
  const std::pair<const char*, Spread Time::*> spreads[] = {{"hot", &Time::hot},
                                                            {"cold", &Time::cold},
                                                            {"transfers", &Time::transfers},
                                                            {"overlapped", &Time::overlapped}};
  for (const auto& [name, member] : spreads) {
    if (member == &Time::overlapped && !any(rows, overlaps)) continue;
    const std::string prefix = name;
    const auto figure = [&, at = member](const char* what, double Spread::*figure_of) {
      fields.push_back({prefix + what, false, [at, figure_of](const Row& row) {
                          return Cell{exact(row.time.*at.*figure_of)};
                        }});
    };
    figure("_median_ms", &Spread::median_ms);
    figure("_p10_ms", &Spread::p10_ms);
    figure("_p90_ms", &Spread::p90_ms);
    figure("_repeat_spread_ratio", &Spread::repeat_spread);
    fields.push_back({prefix + "_rounds", false, [at = member](const Row& row) {
                        const int rounds = (row.time.*at).rounds;
                        return Cell{rounds > 0 ? std::to_string(rounds) : ""};
                      }});
  }
  if (any(rows, packs)) {
    number("packing_ms", [](const Row& row) { return row.time.packing_ms; });
  }
  text("discarded_rounds",
       [](const Row& row) { return timed(row) ? std::to_string(row.time.discarded_rounds) : ""; });
  number("low_clock_mhz", [](const Row& row) { return row.time.low_clock_mhz; });
  const std::pair<const char*, double Time::*> figures[] = {
      {"hot_gb_per_s", &Time::gb_per_s},
      {"cold_gb_per_s", &Time::cold_gb_per_s},
      {"hot_gflop_per_s", &Time::gflop_per_s},
      {"share_of_copy_ratio", &Time::share_of_copy},
      {"share_of_fp32_ratio", &Time::share_of_fp32},
      {"speedup_over_previous_ratio", &Time::ratio_to_previous},
      {"speedup_over_copy_ratio", &Time::ratio_to_copy},
      {"speedup_over_best_peer_ratio", &Time::ratio_to_best_peer}};
  for (const auto& [name, member] : figures) {
    fields.push_back(
        {name, false, [at = member](const Row& row) { return Cell{exact(row.time.*at)}; }});
  }
  text("best_peer", [](const Row& row) { return row.time.best_peer; });
  text("published_source", [](const Row& row) { return row.published.source; });
  std::vector<std::string> published;
  for (const Row* row : rows) {
    for (const auto& [name, value] : row->published.figures) {
      if (std::find(published.begin(), published.end(), name) == published.end()) {
        published.push_back(name);
      }
    }
  }
  for (const std::string& name : published) {
    fields.push_back({"published_" + name, false,
                      [name](const Row& row) { return Cell{exact(published_figure(row, name))}; }});
  }
  text("source", [](const Row& row) { return row.source; });
  text("layout", [](const Row& row) { return row.layout; });
  text("detail", [](const Row& row) { return row.detail; });
  text("runs_as", [](const Row& row) { return row.runs_as; });
  text("description", [](const Row& row) { return row.description; });
  return fields;
}

}  // namespace

std::string render_machine(const Machine& machine, const TableOptions& options) {
  if (options.format == Format::csv) return "";
  Table lines;
  const auto line = [&](const std::string& mark, const std::string& text) {
    lines.notes.push_back({{mark + ":", Tone::strong}, text});
  };
  const auto roofs = [&](const std::string& backend, const std::string& mark) {
    for (const auto& [name, roofs] : machine.roofs) {
      if (name != backend) continue;
      std::string text;
      const auto add = [&](const char* what, double value, const char* unit) {
        if (value < 0) return;
        const bool large = value >= 1000;
        text += (text.empty() ? "" : ", ") + std::string(what) + " " +
                (large ? with_commas(std::llround(value)) : rounded(value)) + " " + unit;
      };
      add("copy", roofs.copy_gb_per_s, "GB/s");
      add("fp32", roofs.fp32_gflop_per_s, "GFLOP/s");
      add("clock", roofs.clock_mhz, "MHz");
      add("host to GPU", roofs.to_gpu_gb_per_s, "GB/s");
      add("back", roofs.from_gpu_gb_per_s, "GB/s");
      add("page-locked", roofs.to_gpu_pinned_gb_per_s, "GB/s");
      add("back", roofs.from_gpu_pinned_gb_per_s, "GB/s");
      if (!text.empty()) line(mark, text);
    }
  };
  if (!machine.gpu.empty()) {
    std::string text = machine.gpu;
    if (machine.multiprocessors > 0) {
      text += ", " + std::to_string(machine.multiprocessors) + " multiprocessors";
    }
    if (machine.l2_bytes > 0) text += ", L2 " + std::to_string(machine.l2_bytes >> 20) + " MiB";
    if (!machine.driver.empty()) text += ", driver " + machine.driver;
    if (!machine.cuda.empty()) text += ", CUDA " + machine.cuda;
    for (const auto& [name, version] : machine.libraries) text += ", " + name + " " + version;
    line("GPU", text);
    roofs("gpu", "GPU roofs");
  }
  if (!machine.cpu.empty()) {
    std::string text = machine.cpu;
    if (machine.cpu_threads > 0) text += ", " + std::to_string(machine.cpu_threads) + " threads";
    if (!machine.compiler.empty()) text += ", " + machine.compiler;
    line("CPU", text);
    roofs("cpu", "CPU roofs");
  }
  if (!machine.build.empty() && machine.build != "optimised") {
    lines.notes.push_back({{"BUILD:", Tone::bad}, machine.build});
  }
  return lay_out(lines, options);
}

namespace {

std::string all_tables(const std::vector<Row>& rows, const TableOptions& options) {
  std::string text;
  std::vector<bool> done(rows.size(), false);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (done[at]) continue;
    Rows group;
    for (std::size_t i = at; i < rows.size(); ++i) {
      if (rows[i].backend != rows[at].backend || rows[i].problem != rows[at].problem) continue;
      group.push_back(&rows[i]);
      done[i] = true;
    }
    if (!text.empty()) text += "\n";
    const bool times = has_times(group);
    Table table;
    if (any(group, [](const Row& row) { return row.check.outcome != Outcome::not_run; })) {
      table = tabulate("", group, times ? timed_fields(group) : counted_fields(group));
    }
    table.title = shared_title(rows[at]);
    if (times) table.notes = time_notes(group);
    for (Note& note : inside_notes(group)) table.notes.push_back(std::move(note));
    // What has no column is explained once, below all tables.
    for (Note& note : reasons(group, any(group, saw_hazards), any(group, counted_traffic), times)) {
      table.notes.push_back(std::move(note));
    }
    text += lay_out(table, options);
  }
  return text;
}

// What nothing of what was tried reached.
std::string gaps(const std::vector<Row>& rows, const TableOptions& options) {
  Table table;
  table.notes = unreached_notes(rows);
  return table.notes.empty() ? "" : "\n" + lay_out(table, options);
}

}  // namespace

std::string render_rows(const std::vector<Row>& rows, const TableOptions& options) {
  return all_tables(rows, options) + gaps(rows, options) + all_faults(rows, options);
}

std::string render_legend(const std::vector<Row>& rows, const TableOptions& options) {
  Table legend;
  legend.notes = shared_notes(rows);
  return legend.notes.empty() ? "" : lay_out(legend, options);
}

std::string render_table(const std::vector<Row>& rows, const TableOptions& options) {
  if (options.format == Format::csv) {
    Rows all;
    for (const Row& row : rows) all.push_back(&row);
    return lay_out(tabulate("", all, csv_fields(all)), options);
  }
  const std::string legend = render_legend(rows, options);
  return all_tables(rows, options) + gaps(rows, options) + (legend.empty() ? "" : "\n" + legend) +
         all_faults(rows, options);
}

}  // namespace halo
