// Results as text: our table, the table of the source report, and the machine they come from.
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "common/harness/command_line.hpp"
#include "common/harness/report_text.hpp"

namespace halo {

namespace {

constexpr const char* kNotRun = "NOT RUN";

using RowField = Field<Row>;
using Rows = std::vector<const Row*>;

Tone tone_of(Outcome outcome) {
  if (outcome == Outcome::good) return Tone::good;
  return outcome == Outcome::bad ? Tone::bad : Tone::caution;
}

bool any(const Rows& rows, const std::function<bool(const Row&)>& test) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row* row) { return test(*row); });
}

std::string value_text(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return with_commas(*number);
  return std::get<std::string>(value);
}

// "mask_width" -> "mask width".
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

const char* backend_title(const std::string& backend) {
  if (backend == "sim") return "On the simulator";
  if (backend == "gpu") return "On the GPU";
  if (backend == "cpu") return "On the CPU";
  return "Elsewhere";
}

bool timed(const Row& row) { return row.time.outcome == Outcome::good; }
bool saw_hazards(const Row& row) { return row.hazards.outcome != Outcome::not_run; }
bool counted_traffic(const Row& row) { return row.traffic.outcome != Outcome::not_run; }

std::string percent(double share) { return share < 0 ? "-" : fixed(share * 100, 1); }

// ---- Our table ----

std::vector<RowField> name_fields() {
  return {{"stage", false, [](const Row& row) { return Cell{stage_label(row)}; }},
          {"variant", false, [](const Row& row) { return Cell{row.variant}; }},
          {"check", false,
           [](const Row& row) { return outcome_cell(row.check.outcome, "PASS", "FAIL"); }}};
}

Cell worst_error(const Row& row) {
  if (row.check.shapes == 0) return {"-"};
  // How wrong a wrong result is does not matter past a point.
  return {row.check.worst_share > 999 ? ">999" : rounded(row.check.worst_share, 2)};
}

RowField hazards_field() {
  return {"hazards", false,
          [](const Row& row) { return outcome_cell(row.hazards.outcome, "none", "FOUND"); }};
}

std::vector<RowField> traffic_fields(const Rows& rows) {
  std::vector<RowField> fields = {{"traffic", false, [](const Row& row) {
                                     return outcome_cell(row.traffic.outcome, "EQUAL", "DIFFERS");
                                   }}};
  if (any(rows, counted_traffic)) {
    fields.push_back({"sectors/req", true, [](const Row& row) {
                        return Cell{fixed(row.traffic.sectors_per_request, 2)};
                      }});
    fields.push_back({"bytes/output", true, [](const Row& row) {
                        return Cell{fixed(row.traffic.bytes_per_output_counted, 2)};
                      }});
    fields.push_back({"predicted", true, [](const Row& row) {
                        return Cell{fixed(row.traffic.bytes_per_output_predicted, 2)};
                      }});
    fields.push_back({"conflicts", true, [](const Row& row) {
                        const double count = row.traffic.shared_conflicts;
                        return Cell{count < 0 ? "-"
                                              : with_commas(static_cast<std::int64_t>(count))};
                      }});
  }
  return fields;
}

// Where nothing was timed: what the simulator says.
std::vector<RowField> counted_fields(const Rows& rows) {
  std::vector<RowField> fields = name_fields();
  fields.push_back({"shapes", true, [](const Row& row) {
                      return Cell{row.check.shapes > 0 ? std::to_string(row.check.shapes) : "-"};
                    }});
  fields.push_back({"error/bound", true, worst_error});
  fields.push_back(hazards_field());
  for (RowField& field : traffic_fields(rows)) fields.push_back(std::move(field));
  fields.push_back({"time", false, [](const Row& row) {
                      return outcome_cell(row.time.outcome, "MEASURED", "FAIL");
                    }});
  return fields;
}

std::vector<RowField> timed_fields(const Rows& rows) {
  std::vector<RowField> fields = name_fields();
  fields.push_back({"err/bound", true, worst_error, true});
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
  fields.push_back({cold ? "hot ms" : "ms", true, [](const Row& row) {
                      if (timed(row)) return Cell{rounded(row.time.hot.median_ms)};
                      return outcome_cell(row.time.outcome, "", "FAIL");
                    }});
  figure("p10-p90", [](const Time& time) {
    if (time.hot.p10_ms < 0) return std::string("-");
    return rounded(time.hot.p10_ms) + "-" + rounded(time.hot.p90_ms);
  });
  figure("cold ms", [](const Time& time) { return rounded(time.cold.median_ms); });
  figure("total ms", [](const Time& time) { return rounded(time.transfers.median_ms); });
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

double published_figure(const Row& row, const std::string& name) {
  for (const auto& [known, value] : row.published.figures) {
    if (known == name) return value;
  }
  return -1;
}

bool has_times(const Rows& rows) { return any(rows, timed); }

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// What a reader of the times must know: whose ratio it is, and what disturbed the clock.
std::vector<Note> time_notes(const Rows& rows) {
  std::vector<Note> notes;
  std::vector<std::pair<std::string, std::vector<std::string>>> peers;  // and who is set against it
  std::vector<std::string> throttled;
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
  for (const Row* row : rows) {
    if (!row->detail.empty()) notes.push_back({{row->variant + ":", Tone::strong}, row->detail});
  }
  if (!throttled.empty()) {
    notes.push_back({{"THROTTLED:", Tone::caution},
                     "rounds left out because the clock was low: " + listed(throttled)});
  }
  if (!over.empty()) {
    notes.push_back(
        {{}, "%copy over 100: part of the data was still in a cache (" + listed(over) + ")"});
  }
  return notes;
}

// The reasons of what was not run, each once, with the variants it is about unless it is all of
// them.
std::vector<Note> reasons(const Rows& rows, bool hazards = true, bool traffic = true) {
  struct Reason {
    std::string columns;
    std::string reason;
    std::vector<std::string> variants;
  };
  std::vector<Reason> found;
  const auto note = [&](const Row& row, const std::string& column, Outcome outcome,
                        const std::string& reason) {
    if (outcome != Outcome::not_run || reason.empty()) return;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Reason& known) {
      return known.columns == column && known.reason == reason;
    });
    if (same == found.end()) {
      found.push_back({column, reason, {row.variant}});
    } else {
      same->variants.push_back(row.variant);
    }
  };
  for (const Row* row : rows) {
    note(*row, "check", row->check.outcome, row->check.reason);
    if (hazards) note(*row, "hazards", row->hazards.outcome, row->hazards.reason);
    if (traffic) note(*row, "traffic", row->traffic.outcome, row->traffic.reason);
    note(*row, "time", row->time.outcome, row->time.reason);
  }
  // One line for columns that say the same of the same variants.
  std::vector<Reason> merged;
  for (const Reason& next : found) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Reason& known) {
      return known.reason == next.reason && known.variants == next.variants;
    });
    if (same == merged.end()) {
      merged.push_back(next);
    } else {
      same->columns += ", " + next.columns;
    }
  }
  std::vector<Note> notes;
  for (const Reason& reason : merged) {
    std::string text = reason.columns;
    if (reason.variants.size() < rows.size()) text += " of " + listed(reason.variants);
    notes.push_back({not_run_cell(), text + ": " + reason.reason});
  }
  return notes;
}

std::string place(const std::string& file, int line) {
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

std::string triple(const std::array<unsigned, 3>& at) {
  return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) +
         ")";
}

// The lines of a text, each with the indent in front.
std::string indented(const std::string& text, const std::string& indent) {
  std::string out = indent;
  for (const char letter : text) {
    out += letter;
    if (letter == '\n') out += indent;
  }
  return out + "\n";
}

std::string faults(const Row& row, const TableOptions& options) {
  std::string text;
  if (row.check.outcome == Outcome::bad) {
    text +=
        "  check " + paint("FAIL", Tone::bad, options) + "\n" + indented(row.check.reason, "    ");
  }
  if (row.hazards.outcome == Outcome::bad) {
    text += "  hazards " + paint("FOUND", Tone::bad, options) + ", " + row.hazards.reason + "\n";
    for (const Hazard& hazard : row.hazards.findings) {
      text += "    " + hazard.kind + " at " + place(hazard.file, hazard.line);
      if (!hazard.other_file.empty()) {
        text += " and " + place(hazard.other_file, hazard.other_line);
      }
      if (hazard.kind != "stray_write") {
        text += ", block " + triple(hazard.block) + ", thread " + triple(hazard.thread);
      }
      text += ", " + std::to_string(hazard.count) + (hazard.count == 1 ? " time" : " times") + "\n";
      text += indented(hazard.message, "      ");
    }
  }
  if (row.traffic.outcome == Outcome::bad) {
    text += "  traffic " + paint("DIFFERS", Tone::bad, options) + ", " + row.traffic.reason + "\n";
    for (std::size_t i = 0; i < row.traffic.counted.size(); ++i) {
      const auto& [name, counted] = row.traffic.counted[i];
      const std::uint64_t predicted =
          i < row.traffic.predicted.size() ? row.traffic.predicted[i].second : 0;
      if (counted == predicted) continue;
      text += "    " + name + ": predicted " + with_commas(static_cast<std::int64_t>(predicted)) +
              ", counted " + with_commas(static_cast<std::int64_t>(counted)) + "\n";
    }
  }
  if (row.time.outcome == Outcome::bad) {
    text += "  time " + paint("FAIL", Tone::bad, options) + ": " + row.time.reason + "\n";
  }
  if (text.empty()) return text;
  return paint(row.stage + " " + row.variant, Tone::strong, options) + " (" + row.source + ")\n" +
         text;
}

// What failed, below all tables.
std::string all_faults(const std::vector<Row>& rows, const TableOptions& options) {
  std::string text;
  for (const Row& row : rows) text += faults(row, options);
  if (text.empty()) return text;
  if (options.format != Format::markdown) return "\n" + text;
  // As it stands: its indents and its stars mean something. No text of ours holds this many ticks.
  return "\n``````text\n" + text + "``````\n";
}

constexpr const char* kLegend[] = {
    "hot: all calls on the same arrays. cold: on arrays that the cache has lost. total: one call "
    "with both transfers.",
    "%copy, %fp32: shares of the roofs. x: time of the variant before, of the copy, of the fastest "
    "peer / this time. A/A %: what the same code differs by."};

// Below all tables, each once: what the columns of times mean, what has no column in them and why,
// and what the peers are.
std::vector<Note> shared_notes(const std::vector<Row>& rows) {
  std::vector<Note> notes;
  const auto add = [&](Note note) {
    const bool known = std::any_of(notes.begin(), notes.end(), [&](const Note& other) {
      return other.mark.text == note.mark.text && other.text == note.text;
    });
    if (!known) notes.push_back(std::move(note));
  };
  for (const Row& row : rows) {
    if (!timed(row)) continue;
    for (const char* text : kLegend) add({{}, text});
    for (const auto& [name, reason, ran] :
         {std::tuple{"hazards", row.hazards.reason, saw_hazards(row)},
          {"traffic", row.traffic.reason, counted_traffic(row)}}) {
      if (ran || reason.empty()) continue;
      add({not_run_cell(), std::string(name) + ", " + row.backend + ": " + reason});
    }
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
  const auto text = [&](const std::string& name, std::function<std::string(const Row&)> value) {
    fields.push_back({name, false, [value](const Row& row) { return Cell{value(row)}; }});
  };
  const auto number = [&](const std::string& name, std::function<double(const Row&)> value) {
    text(name, [value](const Row& row) { return exact(value(row)); });
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
  const std::pair<const char*, Spread Time::*> spreads[] = {
      {"hot", &Time::hot}, {"cold", &Time::cold}, {"transfers", &Time::transfers}};
  for (const auto& [name, member] : spreads) {
    const std::string prefix = name;
    const auto figure = [&, at = member](const char* what, double Spread::*figure_of) {
      number(prefix + what, [at, figure_of](const Row& row) { return row.time.*at.*figure_of; });
    };
    figure("_median_ms", &Spread::median_ms);
    figure("_p10_ms", &Spread::p10_ms);
    figure("_p90_ms", &Spread::p90_ms);
    figure("_repeat_spread_ratio", &Spread::repeat_spread);
    text(prefix + "_rounds", [at = member](const Row& row) {
      const int rounds = (row.time.*at).rounds;
      return rounds > 0 ? std::to_string(rounds) : "";
    });
  }
  text("discarded_rounds",
       [](const Row& row) { return timed(row) ? std::to_string(row.time.discarded_rounds) : ""; });
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
    number(name, [at = member](const Row& row) { return row.time.*at; });
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
    number("published_" + name, [name](const Row& row) { return published_figure(row, name); });
  }
  text("task", [](const Row& row) { return row.task > 0 ? std::to_string(row.task) : ""; });
  text("source", [](const Row& row) { return row.source; });
  text("detail", [](const Row& row) { return row.detail; });
  text("description", [](const Row& row) { return row.description; });
  return fields;
}

// A field of the problem, or -1.
std::int64_t number(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row.problem) {
    if (field == name && std::holds_alternative<std::int64_t>(value)) {
      return std::get<std::int64_t>(value);
    }
  }
  return -1;
}

std::string word(const Row& row, const std::string& name) {
  for (const auto& [field, value] : row.problem) {
    if (field == name && std::holds_alternative<std::string>(value)) {
      return std::get<std::string>(value);
    }
  }
  return {};
}

}  // namespace

std::string role_name(Role role) {
  if (role == Role::peer) return "peer";
  return role == Role::copy ? "copy" : "variant";
}

std::string stage_label(const Row& row) {
  if (row.role != Role::variant) return role_name(row.role);
  const std::size_t end = row.stage.find_first_not_of("0123456789");
  return end == 0 || end == std::string::npos ? row.stage : row.stage.substr(0, end);
}

std::string describe(const Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem) {
    if (!text.empty()) text += ", ";
    text += words(name) + " " + value_text(value);
  }
  return text;
}

std::string shared_title(const Row& row) {
  const std::string place = backend_title(row.backend);
  return row.problem.empty() ? place : place + ": " + describe(row.problem);
}

Cell not_run_cell() { return {kNotRun, Tone::caution}; }

Cell outcome_cell(Outcome outcome, const char* good, const char* bad) {
  if (outcome == Outcome::not_run) return not_run_cell();
  return {outcome == Outcome::good ? good : bad, tone_of(outcome)};
}

std::string exact_value(const Problem& problem, const std::string& field) {
  for (const auto& [name, value] : problem) {
    if (name != field) continue;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    return std::get<std::string>(value);
  }
  return "";
}

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

std::string render_table(const std::vector<Row>& rows, const TableOptions& options) {
  if (options.format == Format::csv) {
    Rows all;
    for (const Row& row : rows) all.push_back(&row);
    return lay_out(tabulate("", all, csv_fields(all)), options);
  }
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
    Table table = tabulate(shared_title(rows[at]), group,
                           times ? timed_fields(group) : counted_fields(group));
    if (times) table.notes = time_notes(group);
    // What has no column is explained once, below all tables.
    for (Note& note :
         reasons(group, !times || any(group, saw_hazards), !times || any(group, counted_traffic))) {
      table.notes.push_back(std::move(note));
    }
    text += lay_out(table, options);
  }
  Table last;
  last.notes = shared_notes(rows);
  if (!last.notes.empty()) text += "\n" + lay_out(last, options);
  return text + all_faults(rows, options);
}

namespace {

// ---- The source report's table ----

bool same_but_length(Problem a, Problem b) {
  for (Problem* problem : {&a, &b}) {
    std::erase_if(*problem, [](const auto& field) { return field.first == "length"; });
  }
  return a == b;
}

// Variants of the report's table, and the CPU's loop beside them.
struct ReportTable {
  explicit ReportTable(const std::vector<Row>& all)
      : rows(all),
        // Without any GPU row the CPU's own are shown, with the GPU's columns not run.
        only_cpu(std::none_of(all.begin(), all.end(),
                              [](const Row& row) { return row.backend != "cpu"; })) {
    const bool any_published = std::any_of(all.begin(), all.end(), published);
    for (const Row& row : all) {
      if (shows(row) &&
          (!any_published || std::any_of(all.begin(), all.end(), [&](const Row& other) {
            return published(other) && same_but_length(row.problem, other.problem);
          }))) {
        shown.push_back(&row);
      }
    }
  }

  static bool published(const Row& row) { return !row.published.source.empty(); }

  bool shows(const Row& row) const {
    return row.role == Role::variant && (row.backend != "cpu" || only_cpu);
  }

  const Row* cpu_row(const Row& gpu) const {
    for (const Row& row : rows) {
      if (row.backend == "cpu" && row.variant == "loop" && timed(row) &&
          number(row, "length") == number(gpu, "length") &&
          number(row, "mask_width") == number(gpu, "mask_width") &&
          word(row, "border") == word(gpu, "border")) {
        return &row;
      }
    }
    return nullptr;
  }

  double cpu_ms(const Row& row) const {
    const Row* cpu = only_cpu ? (timed(row) ? &row : nullptr) : cpu_row(row);
    return cpu != nullptr ? cpu->time.hot.median_ms : -1;
  }

  static double gpu_ms(const Row& row) {
    return row.backend == "gpu" && timed(row) ? row.time.transfers.median_ms : -1;
  }

  static double kernel_ms(const Row& row) {
    return row.backend == "gpu" && timed(row) ? row.time.hot.median_ms : -1;
  }

  // Length, our figures and the published ones, each written by `figure`, or by `aside` where there
  // is no need that it exists.
  std::vector<RowField> figures(const std::array<const char*, 8>& names,
                                std::function<Cell(double)> figure,
                                std::function<Cell(double)> aside) const {
    const auto ratio = [](double cpu, double gpu) { return cpu < 0 || gpu < 0 ? -1 : cpu / gpu; };
    return {
        {names[0], true, [=, this](const Row& row) { return figure(cpu_ms(row)); }},
        {names[1], true, [=](const Row& row) { return figure(gpu_ms(row)); }},
        {names[2], true,
         [=, this](const Row& row) { return figure(ratio(cpu_ms(row), gpu_ms(row))); }},
        {names[3], true, [=](const Row& row) { return figure(kernel_ms(row)); }},
        {names[4], true,
         [=, this](const Row& row) { return figure(ratio(cpu_ms(row), kernel_ms(row))); }},
        {names[5], true, [=](const Row& row) { return aside(published_figure(row, "cpu_ms")); },
         true},
        {names[6], true, [=](const Row& row) { return aside(published_figure(row, "gpu_ms")); },
         true},
        {names[7], true,
         [=](const Row& row) {
           return aside(ratio(published_figure(row, "cpu_ms"), published_figure(row, "gpu_ms")));
         },
         true},
    };
  }

  const std::vector<Row>& rows;
  bool only_cpu;
  Rows shown;
};

std::string report_csv(const ReportTable& report, const TableOptions& options) {
  std::vector<RowField> fields =
      identity_fields<Row>(report.shown, [](const Row& row) -> const Row& { return row; });
  const auto figure = [](double value) { return Cell{exact(value)}; };
  for (RowField& field : report.figures(
           {"cpu_ms", "gpu_with_transfers_ms", "speedup_ratio", "kernel_ms", "kernel_speedup_ratio",
            "published_cpu_ms", "published_gpu_ms", "published_speedup_ratio"},
           figure, figure)) {
    fields.push_back(std::move(field));
  }
  fields.push_back(
      {"published_source", false, [](const Row& row) { return Cell{row.published.source}; }});
  fields.push_back({"time", false, [](const Row& row) {
                      return outcome_cell(row.time.outcome, "MEASURED", "FAIL");
                    }});
  fields.push_back({"time_reason", false, [](const Row& row) { return Cell{row.time.reason}; }});
  return lay_out(tabulate("", report.shown, fields), options);
}

}  // namespace

std::string render_report_table(const std::vector<Row>& rows, const TableOptions& options) {
  const ReportTable report(rows);
  if (options.format == Format::csv) return report_csv(report, options);
  std::vector<RowField> fields = {
      {"length", true, [](const Row& row) { return Cell{with_commas(number(row, "length"))}; }}};
  for (RowField& field : report.figures(
           {"CPU (ms)", "GPU (ms)", "speedup", "kernel (ms)", "kernel speedup",
            "published CPU (ms)", "published GPU (ms)", "published speedup"},
           [](double value) { return value < 0 ? not_run_cell() : Cell{fixed(value, 4)}; },
           [](double value) { return Cell{fixed(value, 4)}; })) {
    fields.push_back(std::move(field));
  }
  std::string text;
  const Rows& shown = report.shown;
  std::vector<bool> done(shown.size(), false);
  for (std::size_t at = 0; at < shown.size(); ++at) {
    if (done[at]) continue;
    const Row& first = *shown[at];
    Rows group;
    std::string source;
    for (std::size_t i = at; i < shown.size(); ++i) {
      if (shown[i]->stage != first.stage || shown[i]->variant != first.variant ||
          shown[i]->backend != first.backend ||
          !same_but_length(shown[i]->problem, first.problem)) {
        continue;
      }
      group.push_back(shown[i]);
      done[i] = true;
      if (source.empty()) source = shown[i]->published.source;
    }
    std::stable_sort(group.begin(), group.end(), [](const Row* a, const Row* b) {
      return number(*a, "length") < number(*b, "length");
    });
    std::string title = first.stage + " " + first.variant;
    if (first.task > 0) title += ", task " + std::to_string(first.task);
    title += ": mask " + std::to_string(number(first, "mask_width")) + ", " +
             std::to_string(number(first, "threads")) +
             " threads; GPU times hold the transfers, kernel times do not";
    if (!source.empty()) title += "; published: " + source;
    Table table = tabulate(title, group, fields);
    table.notes = reasons(group);
    if (!text.empty()) text += "\n";
    text += lay_out(table, options);
  }
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.backend == "gpu"; })) {
    Table none;
    none.notes.push_back({not_run_cell(), "GPU: none of these rows ran on a GPU"});
    text += lay_out(none, options);
  }
  return text + all_faults(rows, options);
}

}  // namespace halo
