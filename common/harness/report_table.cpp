// Results as text for a terminal: our table, and the table of the source report.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

#include "common/harness/command_line.hpp"
#include "common/harness/report.hpp"

namespace halo {

namespace {

constexpr const char* kNotRun = "NOT RUN";
constexpr const char* kGreen = "\033[32m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kYellow = "\033[33m";
constexpr const char* kBold = "\033[1m";
constexpr const char* kPlain = "\033[0m";

struct Cell {
  std::string text;
  const char* color = nullptr;
};

struct Column {
  std::string header;
  bool right = true;  // figures to the right, words to the left
  std::function<Cell(const Row&)> cell;
};

std::string paint(const std::string& text, const char* color, bool on) {
  if (!on || color == nullptr || text.empty()) return text;
  return color + text + kPlain;
}

std::string aligned(const Cell& cell, std::size_t width, bool right, bool color) {
  const std::string space(width - std::min(width, cell.text.size()), ' ');
  const std::string text = paint(cell.text, cell.color, color);
  return right ? space + text : text + space;
}

// `significant` digits, never an exponent.
std::string figure(double value, int significant = 3) {
  if (value < 0) return "-";
  if (std::isinf(value)) return "inf";
  int decimals = significant - 1;
  if (value > 0) decimals -= static_cast<int>(std::floor(std::log10(value)));
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", std::clamp(decimals, 0, 9), value);
  return text;
}

std::string fixed(double value, int decimals) {
  if (value < 0) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

const char* color_of(Outcome outcome) {
  if (outcome == Outcome::good) return kGreen;
  return outcome == Outcome::bad ? kRed : kYellow;
}

Cell status(Outcome outcome, const char* good, const char* bad) {
  const char* text = outcome == Outcome::good ? good : outcome == Outcome::bad ? bad : kNotRun;
  return {text, color_of(outcome)};
}

bool any(const std::vector<const Row*>& rows, const std::function<bool(const Row&)>& test) {
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

std::string describe(const Problem& problem) {
  std::string text;
  for (const auto& [name, value] : problem) {
    if (!text.empty()) text += ", ";
    text += words(name) + " " + value_text(value);
  }
  return text;
}

const char* backend_title(const std::string& backend) {
  if (backend == "sim") return "On the simulator";
  if (backend == "gpu") return "On the GPU";
  if (backend == "cpu") return "On the CPU";
  return "Elsewhere";
}

// "04_conv1d_tiled_halo" -> "04", as in `halo run 04`: the table has to fit a terminal.
std::string number_of(const std::string& stage) {
  const std::size_t end = stage.find_first_not_of("0123456789");
  return end == 0 || end == std::string::npos ? stage : stage.substr(0, end);
}

std::vector<Column> columns_for(const std::vector<const Row*>& rows) {
  std::vector<Column> columns;
  columns.push_back({"stage", false, [](const Row& row) { return Cell{number_of(row.stage)}; }});
  columns.push_back({"variant", false, [](const Row& row) { return Cell{row.variant}; }});
  columns.push_back(
      {"check", false, [](const Row& row) { return status(row.check.outcome, "PASS", "FAIL"); }});
  columns.push_back({"shapes", true, [](const Row& row) {
                       return Cell{row.check.shapes > 0 ? std::to_string(row.check.shapes) : "-"};
                     }});
  columns.push_back({"error/bound", true, [](const Row& row) {
                       if (row.check.shapes == 0) return Cell{"-"};
                       // How wrong a wrong result is does not matter past a point.
                       const bool huge = row.check.worst_share > 999;
                       return Cell{huge ? ">999" : figure(row.check.worst_share, 2)};
                     }});
  columns.push_back({"hazards", false,
                     [](const Row& row) { return status(row.hazards.outcome, "none", "FOUND"); }});
  columns.push_back({"traffic", false, [](const Row& row) {
                       return status(row.traffic.outcome, "EQUAL", "DIFFERS");
                     }});
  if (any(rows, [](const Row& row) { return row.traffic.outcome != Outcome::not_run; })) {
    columns.push_back({"sectors/req", true, [](const Row& row) {
                         return Cell{fixed(row.traffic.sectors_per_request, 2)};
                       }});
    columns.push_back({"bytes/output", true, [](const Row& row) {
                         return Cell{fixed(row.traffic.bytes_per_output_counted, 2)};
                       }});
    columns.push_back({"predicted", true, [](const Row& row) {
                         return Cell{fixed(row.traffic.bytes_per_output_predicted, 2)};
                       }});
    columns.push_back(
        {"conflicts", true, [](const Row& row) {
           return Cell{row.traffic.shared_conflicts < 0
                           ? "-"
                           : with_commas(static_cast<std::int64_t>(row.traffic.shared_conflicts))};
         }});
  }
  if (!any(rows, [](const Row& row) { return row.time.outcome == Outcome::good; })) {
    columns.push_back({"time", false, [](const Row& row) {
                         return status(row.time.outcome, "MEASURED", "FAIL");
                       }});
    return columns;
  }
  columns.push_back({"ms", true, [](const Row& row) {
                       if (row.time.outcome == Outcome::good)
                         return Cell{figure(row.time.median_ms)};
                       return status(row.time.outcome, "", "FAIL");
                     }});
  columns.push_back({"p10-p90", true, [](const Row& row) {
                       if (row.time.outcome != Outcome::good) return Cell{"-"};
                       return Cell{figure(row.time.p10_ms) + "-" + figure(row.time.p90_ms)};
                     }});
  if (any(rows, [](const Row& row) { return row.time.transfers_ms >= 0; })) {
    columns.push_back({"ms with transfers", true,
                       [](const Row& row) { return Cell{figure(row.time.transfers_ms)}; }});
  }
  columns.push_back({"GB/s", true, [](const Row& row) { return Cell{figure(row.time.gb_per_s)}; }});
  columns.push_back(
      {"GFLOP/s", true, [](const Row& row) { return Cell{figure(row.time.gflop_per_s)}; }});
  columns.push_back({"x before", true,
                     [](const Row& row) { return Cell{fixed(row.time.ratio_to_previous, 2)}; }});
  return columns;
}

std::string layout(const std::vector<const Row*>& rows, const std::vector<Column>& columns,
                   bool color) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    std::size_t width = column.header.size();
    for (const Row* row : rows) width = std::max(width, column.cell(*row).text.size());
    widths.push_back(width);
  }
  std::string text;
  const auto line = [&](const std::function<Cell(const Column&)>& cell) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += "  ";
      out += aligned(cell(columns[i]), widths[i], columns[i].right, color);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  line([](const Column& column) { return Cell{column.header, kBold}; });
  for (const Row* row : rows) {
    line([&](const Column& column) { return column.cell(*row); });
  }
  return text;
}

// The reasons of what was not run, each once, with the variants it is about unless it is all of
// them.
std::string reasons(const std::vector<const Row*>& rows, bool color) {
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
    note(*row, "hazards", row->hazards.outcome, row->hazards.reason);
    note(*row, "traffic", row->traffic.outcome, row->traffic.reason);
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
  std::string text;
  for (const Reason& reason : merged) {
    text += paint(kNotRun, kYellow, color) + " " + reason.columns;
    if (reason.variants.size() < rows.size()) {
      text += " of";
      for (std::size_t i = 0; i < reason.variants.size(); ++i) {
        text += (i > 0 ? ", " : " ") + reason.variants[i];
      }
    }
    text += ": " + reason.reason + "\n";
  }
  return text;
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

std::string faults(const Row& row, bool color) {
  std::string text;
  if (row.check.outcome == Outcome::bad) {
    text += "  check " + paint("FAIL", kRed, color) + "\n" + indented(row.check.reason, "    ");
  }
  if (row.hazards.outcome == Outcome::bad) {
    text += "  hazards " + paint("FOUND", kRed, color) + ", " + row.hazards.reason + "\n";
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
    text += "  traffic " + paint("DIFFERS", kRed, color) + ", " + row.traffic.reason + "\n";
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
    text += "  time " + paint("FAIL", kRed, color) + ": " + row.time.reason + "\n";
  }
  if (text.empty()) return text;
  return paint(row.stage + " " + row.variant, kBold, color) + " (" + row.source + ")\n" + text;
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

std::string render_table(const std::vector<Row>& rows, const TableOptions& options) {
  std::string text;
  std::vector<bool> done(rows.size(), false);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (done[at]) continue;
    std::vector<const Row*> group;
    for (std::size_t i = at; i < rows.size(); ++i) {
      if (rows[i].backend != rows[at].backend || rows[i].problem != rows[at].problem) continue;
      group.push_back(&rows[i]);
      done[i] = true;
    }
    if (!text.empty()) text += "\n";
    text += std::string(backend_title(rows[at].backend)) + ": " + describe(rows[at].problem) + "\n";
    text += layout(group, columns_for(group), options.color);
    text += reasons(group, options.color);
  }
  std::string bad;
  for (const Row& row : rows) bad += faults(row, options.color);
  return bad.empty() ? text : text + "\n" + bad;
}

std::string render_report_table(const std::vector<Row>& rows, const TableOptions& options) {
  // Per GPU variant its rows in the order of their lengths, beside the CPU loop's.
  const auto cpu_row = [&](const Row& gpu) -> const Row* {
    for (const Row& row : rows) {
      if (row.backend == "cpu" && row.variant == "loop" && row.time.outcome == Outcome::good &&
          number(row, "length") == number(gpu, "length") &&
          number(row, "mask_width") == number(gpu, "mask_width") &&
          word(row, "border") == word(gpu, "border")) {
        return &row;
      }
    }
    return nullptr;
  };
  // Without any GPU row the CPU's own are shown, with the GPU's columns not run.
  const bool only_cpu =
      std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.backend != "cpu"; });
  const auto cpu_ms = [&](const Row& row) -> double {
    if (only_cpu) return row.time.outcome == Outcome::good ? row.time.median_ms : -1;
    const Row* cpu = cpu_row(row);
    return cpu != nullptr ? cpu->time.median_ms : -1;
  };
  const auto gpu_ms = [&](const Row& row, bool transfers) -> double {
    if (row.backend != "gpu" || row.time.outcome != Outcome::good) return -1;
    return transfers ? row.time.transfers_ms : row.time.median_ms;
  };
  const auto milliseconds = [](double value) {
    return value < 0 ? Cell{kNotRun, kYellow} : Cell{fixed(value, 4)};
  };
  const auto speedup = [](double cpu, double gpu) {
    return cpu < 0 || gpu < 0 ? Cell{kNotRun, kYellow} : Cell{fixed(cpu / gpu, 4)};
  };
  const std::vector<Column> columns = {
      {"length", true, [](const Row& row) { return Cell{with_commas(number(row, "length"))}; }},
      {"CPU (ms)", true, [&](const Row& row) { return milliseconds(cpu_ms(row)); }},
      {"GPU (ms)", true, [&](const Row& row) { return milliseconds(gpu_ms(row, true)); }},
      {"speedup", true, [&](const Row& row) { return speedup(cpu_ms(row), gpu_ms(row, true)); }},
      {"kernel (ms)", true, [&](const Row& row) { return milliseconds(gpu_ms(row, false)); }},
      {"kernel speedup", true,
       [&](const Row& row) { return speedup(cpu_ms(row), gpu_ms(row, false)); }},
  };
  std::string text;
  std::vector<bool> done(rows.size(), false);
  for (std::size_t at = 0; at < rows.size(); ++at) {
    if (done[at] || (rows[at].backend == "cpu" && !only_cpu)) continue;
    std::vector<const Row*> group;
    for (std::size_t i = at; i < rows.size(); ++i) {
      if (rows[i].stage != rows[at].stage || rows[i].variant != rows[at].variant ||
          rows[i].backend != rows[at].backend) {
        continue;
      }
      group.push_back(&rows[i]);
      done[i] = true;
    }
    std::stable_sort(group.begin(), group.end(), [](const Row* a, const Row* b) {
      return number(*a, "length") < number(*b, "length");
    });
    if (!text.empty()) text += "\n";
    text += rows[at].stage + " " + rows[at].variant;
    if (rows[at].task > 0) text += ", task " + std::to_string(rows[at].task);
    text += ": mask " + std::to_string(number(rows[at], "mask_width")) + ", " +
            std::to_string(number(rows[at], "threads")) +
            " threads; GPU times hold the transfers, kernel times do not\n";
    text += layout(group, columns, options.color);
    text += reasons(group, options.color);
  }
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.backend == "gpu"; })) {
    text += paint(kNotRun, kYellow, options.color) + " GPU: none of these rows ran on a GPU\n";
  }
  std::string bad;
  for (const Row& row : rows) bad += faults(row, options.color);
  return bad.empty() ? text : text + "\n" + bad;
}

}  // namespace halo
