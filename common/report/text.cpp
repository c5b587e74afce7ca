#include "common/report/text.hpp"

#include <algorithm>

#include "common/report/command_line.hpp"

namespace halo {

namespace {

Tone tone_of(Outcome outcome) {
  if (outcome == Outcome::good) return Tone::good;
  return outcome == Outcome::bad ? Tone::bad : Tone::caution;
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

}  // namespace

std::string role_name(Role role) {
  if (role == Role::peer) return "peer";
  if (role == Role::beside) return "beside";
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

std::string short_name(const Row& row) {
  return row.label.empty() ? describe(row.problem) : row.label;
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

double published_figure(const Row& row, const std::string& name) {
  for (const auto& [known, value] : row.published.figures) {
    if (known == name) return value;
  }
  return -1;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::vector<Note> reasons(const Rows& rows, bool hazards, bool traffic, bool time) {
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
    if (row->check.outcome == Outcome::not_run) {
      std::string reason = row->check.reason;
      if (row->check.trials > 0) {
        reason += " (its own trials: " + std::to_string(row->check.trials) +
                  (row->check.trials == 1 ? " shape" : " shapes") + ", all right)";
      }
      note(*row, "", Outcome::not_run, reason);
      continue;
    }
    if (hazards) note(*row, "hazards", row->hazards.outcome, row->hazards.reason);
    if (traffic) note(*row, "traffic", row->traffic.outcome, row->traffic.reason);
    if (time) note(*row, "time", row->time.outcome, row->time.reason);
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
    // Of a whole program, "(program)", no variant is to be named.
    const bool whole = reason.variants.front().starts_with("(");
    if (!whole && (text.empty() || reason.variants.size() < rows.size())) {
      text += (text.empty() ? "" : " of ") + listed(reason.variants);
    }
    notes.push_back({not_run_cell(), text + (text.empty() ? "" : ": ") + reason.reason});
  }
  return notes;
}

std::string unreached_lines(const Coverage& coverage) {
  std::string text;
  int lines = 0;
  for (std::size_t i = 0; i < coverage.unreached.size(); ++i) {
    const LineRange& range = coverage.unreached[i];
    const bool ends_file =
        i + 1 == coverage.unreached.size() || coverage.unreached[i + 1].file != range.file;
    const bool begins_file = i == 0 || coverage.unreached[i - 1].file != range.file;
    if (i > 0) text += ends_file && !begins_file ? " and " : ", ";
    text += std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
    if (ends_file) text += " of " + range.file.substr(range.file.rfind('/') + 1);
    lines += range.last - range.first + 1;
  }
  if (text.empty()) return text;
  return (lines == 1 ? "line " : "lines ") + text + (lines == 1 ? " was" : " were") +
         " never reached";
}

std::vector<Note> unreached_notes(const std::vector<Row>& rows) {
  std::vector<Note> notes;
  std::vector<const Row*> last;  // of each variant: what it was tried with so far
  for (const Row& row : rows) {
    const auto same = std::find_if(last.begin(), last.end(), [&](const Row* known) {
      return known->stage == row.stage && known->variant == row.variant &&
             known->backend == row.backend;
    });
    if (same == last.end()) {
      last.push_back(&row);
    } else if (row.coverage.outcome != Outcome::not_run) {
      *same = &row;
    }
  }
  for (const Row* row : last) {
    const std::string text = unreached_lines(row->coverage);
    if (!text.empty()) {
      notes.push_back({{stage_label(*row) + " " + row->variant + ":", Tone::caution}, text});
    }
  }
  return notes;
}

}  // namespace halo
