// What failed, as people want it: the lines of the program, what was found there, and how to see it again.
#include <algorithm>
#include <fstream>

#include "common/report/command_line.hpp"
#include "common/report/text.hpp"
#include "common/report/traffic_words.hpp"

namespace halo {

namespace {

constexpr std::size_t kMostFindings = 6;  // of one variant: more of them teach nothing new
constexpr std::size_t kMostParts = 3;     // lines that make a figure of the traffic

std::string count_of(std::uint64_t count, const std::string& word) {
  return with_commas(static_cast<std::int64_t>(count)) + " " + word + (count == 1 ? "" : "s");
}

std::string thread_text(const std::array<unsigned, 3>& at) {
  if (at[1] == 0 && at[2] == 0) return std::to_string(at[0]);
  return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) +
         ")";
}

// "uninitialized_shared_read" -> "uninitialized shared read".
std::string kind_words(std::string kind) {
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

// A line of a source file, without the spaces before it; empty if it cannot be read.
std::string source_line(const std::string& root, const std::string& file, int line) {
  std::ifstream in((root.empty() ? "" : root + "/") + file);
  std::string text;
  for (int i = 0; i < line && in; ++i) std::getline(in, text);
  if (!in || line <= 0) return {};
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin);
}

// Whether the text of a line can be where memory is touched. What a function is given by value is often read where the
// compiler first needs it, in a line that knows no array.
bool may_touch_memory(const std::string& text) {
  return text.empty() || text.find_first_of("[*") != text.npos || text.find("->") != text.npos ||
         text.find("atomic") != text.npos;
}

// Lines of one program, each under its file's name.
class Quoted {
 public:
  explicit Quoted(const TableOptions& options) : options_(options) {}

  void add(const std::string& file, int line, const std::string& remark = "") {
    if (file.empty()) return;
    const std::string text = source_line(options_.source, file, line);
    if (line <= 0 || text.empty()) {
      text_ += "  " + file + (line > 0 ? ":" + std::to_string(line) : "") +
               (remark.empty() ? "" : "  " + remark) + "\n";
      file_.clear();
      return;
    }
    if (file != file_) text_ += "  " + file + "\n";
    file_ = file;
    const std::string number = std::to_string(line);
    const std::size_t width = options_.width > 0 ? static_cast<std::size_t>(options_.width) : 100;
    std::string quoted = std::string(number.size() < 5 ? 5 - number.size() : 0, ' ');
    quoted += number + " |   " + text;
    // A comment behind the code may be left out.
    const std::size_t wanted = quoted.size() + (remark.empty() ? 0 : remark.size() + 2);
    if (const std::size_t comment = quoted.find("  //"); comment != quoted.npos && wanted > width) {
      quoted.resize(comment);
    }
    if (!remark.empty()) {
      const bool fits = quoted.size() + 2 + remark.size() <= width;
      quoted += fits ? "  " + remark : "\n      |     " + remark;
    }
    text_ += quoted + "\n";
  }
  const std::string& text() const { return text_; }

 private:
  const TableOptions& options_;
  std::string text_;
  std::string file_;
};

// A finding's sentence in its two parts: what was seen, without the places that are quoted, and what to do.
std::pair<std::string, std::string> parts_of(const std::string& message) {
  const std::size_t end = message.find(". ");
  std::string seen = message.substr(0, end);
  const std::string remedy = end == std::string::npos ? "" : message.substr(end + 2);
  const std::size_t at = seen.rfind(" at ");
  const std::size_t colon = seen.rfind(':');
  if (at != std::string::npos && colon != std::string::npos && colon > at &&
      (seen[at + 4] == '/' || seen.find(' ', at + 4) == std::string::npos) &&
      seen.find_first_not_of("0123456789", colon + 1) == std::string::npos) {
    seen.erase(at);
  }
  return {seen, remedy};
}

std::string finding_text(const Hazard& hazard, const TableOptions& options) {
  std::string head = paint(kind_words(hazard.kind), Tone::bad, options);
  if (!hazard.array.empty()) head += ": " + hazard.array;
  if (hazard.count > 1) head += ", " + count_of(hazard.count, "time");
  Quoted quoted(options);
  std::string who;
  // A copy that the host asked for is nobody's of a block.
  const bool is_of_host = hazard.kind == "invalid_copy" && !hazard.message.starts_with("thread ");
  if (hazard.kind != "stray_write" && !is_of_host) {
    who = "thread " + thread_text(hazard.thread) + " of block " + thread_text(hazard.block);
  }
  if (hazard.call_line > 0) {
    quoted.add(hazard.call_file, hazard.call_line, who);
    who = "called there";
  }
  const bool tells = hazard.call_line == 0 ||
                     may_touch_memory(source_line(options.source, hazard.file, hazard.line));
  if (tells) quoted.add(hazard.file, hazard.line, who);
  // Two threads may race in one line.
  const bool is_told =
      tells && hazard.other_file == hazard.file && hazard.other_line == hazard.line;
  if (!hazard.other_file.empty() && !is_told) quoted.add(hazard.other_file, hazard.other_line);
  const auto [seen, remedy] = parts_of(hazard.message);
  std::string text = head + "\n" + quoted.text();
  text += "  " + wrapped(seen, options, "  ", 2) + "\n";
  if (!remedy.empty()) text += "  try: " + wrapped(remedy, options, "  ", 7) + "\n";
  return text;
}

std::string hazards_text(const Row& row, const TableOptions& options) {
  std::string text;
  std::vector<Hazard> findings = row.hazards.findings;
  // A barrier that not all reach makes races, and is no remedy for them.
  std::stable_partition(findings.begin(), findings.end(), [](const Hazard& one) {
    return one.kind == "missed_barrier" || one.kind == "divergent_barrier";
  });
  for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i) {
    text += finding_text(findings[i], options);
  }
  if (findings.size() > kMostFindings) {
    text += "and " + count_of(findings.size() - kMostFindings, "more finding") +
            " (all of them: --json FILE)\n";
  }
  if (!row.hazards.reason.empty()) {
    text += "  " + wrapped(row.hazards.reason, options, "  ", 2) + "\n";
  }
  return text;
}

std::string numbers_text(const Row& row, const TableOptions& options) {
  const Diagnosis& known = row.check.diagnosis;
  if (known.place.empty()) {
    std::string text;
    const std::string& reason = row.check.reason;
    for (std::size_t at = 0; at < reason.size();) {
      const std::size_t end = std::min(reason.find('\n', at), reason.size());
      text += (at == 0 ? "" : "  ") +
              wrapped(reason.substr(at, end - at), options, "  ", at == 0 ? 0 : 2) + "\n";
      at = end + 1;
    }
    return text;
  }
  std::string text = std::string("numbers") +
                     (known.tried > 1 ? ", smallest wrong shape (" : " (") + known.smallest +
                     "): " + wrong_output(known);
  text = wrapped(text, options) + "\n";
  if (!known.origin.empty()) text += "  " + wrapped(known.origin, options, "  ", 2) + "\n";
  if (!known.pattern.empty()) text += "  " + wrapped(known.pattern, options, "  ", 2) + "\n";
  return text;
}

std::string traffic_text(const Row& row, const TableOptions& options) {
  std::string text;
  for (const TrafficDifference& one : traffic_differences(row)) {
    text += "  " + (one.name.empty() ? one.what : one.name) + ": predicted " + one.predicted +
            ", counted " + one.counted + (one.change.empty() ? "" : ", " + one.change) + "\n";
    Quoted quoted(options);
    for (std::size_t i = 0; i < std::min(one.lines.size(), kMostParts); ++i) {
      quoted.add(one.lines[i].file, one.lines[i].line, one.lines[i].counted);
    }
    text += quoted.text();
  }
  return text;
}

// The verdict: "race; 44 of 46 shapes wrong (right: mask 1 only)".
std::string verdict_text(const Row& row) {
  std::vector<std::string> all;
  if (!row.check.crash.empty()) all.push_back(row.check.crash);
  std::vector<std::string> kinds;
  for (const Hazard& hazard : row.hazards.findings) {
    const std::string kind = kind_words(hazard.kind);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  if (row.hazards.outcome == Outcome::bad && !kinds.empty()) all.push_back(listed(kinds));
  const Diagnosis& known = row.check.diagnosis;
  const bool numbers = row.check.outcome == Outcome::bad;
  if (known.tried > 1 && known.wrong > 0) {
    std::string text = std::to_string(known.wrong) + " of " + count_of(known.tried, "shape") +
                       (numbers ? " wrong" : " with a finding");
    if (!known.kind.empty()) text += " (" + known.kind + ")";
    all.push_back(text);
  } else if (numbers && row.check.crash.empty() && !row.variant.starts_with("(")) {
    all.push_back("wrong results");
  }
  if (row.time.outcome == Outcome::bad) all.push_back("time");
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

std::string faults(const Row& row, const TableOptions& options) {
  const bool failed = row.check.outcome == Outcome::bad || row.hazards.outcome == Outcome::bad ||
                      row.time.outcome == Outcome::bad;
  const bool differs = row.traffic.outcome == Outcome::bad;
  const std::string printed = printed_text(row.printed, "; all of them: --show-output", options);
  if (!failed && !differs && printed.empty()) return {};
  const std::string name =
      (stage_label(row).empty() ? "" : stage_label(row) + " ") + row.variant + "  ";
  std::string text = paint(name, Tone::strong, options);
  if (!failed && !differs) return text + printed;
  if (failed) {
    const std::string word = row.check.crash.empty() ? "FAIL" : "CRASHED";
    const std::string verdict = verdict_text(row);
    text += paint(word, Tone::bad, options) + (verdict.empty() ? "" : "  ") +
            wrapped(verdict, options, "  ", name.size() + word.size() + 2) + "\n";
    if (row.hazards.findings.empty()) text += "  " + row.source + "\n";
    if (row.hazards.outcome == Outcome::bad) text += hazards_text(row, options);
    if (row.check.outcome == Outcome::bad) text += numbers_text(row, options);
    if (row.time.outcome == Outcome::bad) {
      text += "time: " + wrapped(row.time.reason, options, "  ", 6) + "\n";
    }
    if (differs) {
      text += wrapped("traffic: " + told_traffic(row), options) + "\n";
    }
  } else {
    std::string told = told_traffic(row);
    if (const std::string right = "right; "; told.starts_with(right)) told.erase(0, right.size());
    const std::string verdict =
        "right, but not the traffic predicted: " + told + " (" + row.traffic.reason + ")";
    text += paint("DIFFERS", Tone::caution, options) + "  " +
            wrapped(verdict, options, "  ", name.size() + 9) + "\n" + traffic_text(row, options) +
            "  if that was meant, change what the stage predicts; --strict makes it a failure\n";
  }
  text += printed;
  // A command is one line, however long, to be copied.
  if (const std::string& again = row.check.diagnosis.again; !again.empty()) {
    text += "again: " + again + "\n";
  }
  return text;
}

}  // namespace

namespace {

// Whether the row says nothing that another of the same variant has not said, but for its problem.
bool is_repeated(const Row& row, const Row& before) {
  const auto known = [&](const Hazard& hazard) {
    return std::any_of(before.hazards.findings.begin(), before.hazards.findings.end(),
                       [&](const Hazard& other) {
                         return other.kind == hazard.kind && other.file == hazard.file &&
                                other.line == hazard.line && other.other_line == hazard.other_line;
                       });
  };
  return row.stage == before.stage && row.variant == before.variant &&
         row.backend == before.backend && before.check.outcome == Outcome::bad &&
         row.check.outcome == Outcome::bad && row.check.crash.empty() && row.printed.total == 0 &&
         row.time.outcome != Outcome::bad &&
         std::all_of(row.hazards.findings.begin(), row.hazards.findings.end(), known);
}

}  // namespace

std::string printed_text(const Printed& printed, const std::string& all_of_them,
                         const TableOptions& options) {
  if (printed.total == 0) return {};
  std::string text = "printed by the kernel with " + printed.where;
  if (printed.total > printed.lines.size()) {
    text += " (first " + std::to_string(printed.lines.size()) + " of " +
            count_of(printed.total, "line") + all_of_them + ")";
  }
  text = wrapped(text, options) + ":\n";
  for (const std::string& line : printed.lines) text += "  " + line + "\n";
  return text;
}

std::string wrong_output(const Diagnosis& known) {
  const bool is_written = known.found != "never written";
  return known.place + (is_written ? " is " + known.found : " was never written") + ", should be " +
         known.expected;
}

std::string quoted_line(const std::string& file, int line, const std::string& remark,
                        const TableOptions& options) {
  Quoted quoted(options);
  quoted.add(file, line, remark);
  return quoted.text();
}

std::string all_faults(const std::vector<Row>& rows, const TableOptions& options) {
  std::string text;
  std::vector<bool> told(rows.size(), false);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (told[i]) continue;
    const std::string one = faults(rows[i], options);
    if (one.empty()) continue;
    text += (text.empty() ? "" : "\n") + one;
    std::vector<std::string> also;
    for (std::size_t j = i + 1; j < rows.size(); ++j) {
      if (!is_repeated(rows[j], rows[i])) continue;
      told[j] = true;
      also.push_back(short_name(rows[j]));
    }
    if (!also.empty()) text += wrapped("also with " + listed(also), options) + "\n";
  }
  if (text.empty()) return text;
  if (options.format != Format::markdown) return "\n" + text;
  // As it stands: its indents and its stars mean something. No text of ours holds this many ticks.
  return "\n``````text\n" + text + "``````\n";
}

}  // namespace halo
