#include "common/simt/report/verdict.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

std::string simt::short_name(const std::string& kernel) {
  // Without arguments and template arguments: cut at the first bracket that opens none of a namespace.
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string name = kernel;
  for (std::size_t at; (at = name.find(kUnnamed)) != std::string::npos;) {
    name.erase(at, kUnnamed.size());
  }
  name = name.substr(0, name.find_first_of("<("));
  name = name.substr(name.rfind(' ') + 1);
  return name.substr(name.rfind(':') + 1);
}

namespace simt::report {
namespace {

bool fits(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// A path, or the end of one.
bool fits_path(const std::string& pattern, const std::string& path) {
  return fits(pattern, path) || fits("*/" + pattern, path);
}

std::string known_kind(std::string_view word) {
  if (!hazard_named(word)) {
    throw std::invalid_argument("'" + std::string(word) +
                                "' is not a kind of finding, such as race or out_of_bounds");
  }
  return std::string(word);
}

// Of "race kernel=reverse array=tile reason=..." without the reason.
void read_condition(std::string_view word, Rule& rule) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  const std::string value(equals == word.npos ? "" : word.substr(equals + 1));
  if (key == "line" && !value.empty()) {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), rule.source_line);
    if (error == std::errc{} && *end == '\0' && rule.source_line > 0) return;
    throw std::invalid_argument("line=" + value + " is not the number of a line");
  }
  std::string* const pattern = key == "kernel"  ? &rule.kernel
                               : key == "array" ? &rule.array
                               : key == "file"  ? &rule.source
                                                : nullptr;
  if (pattern == nullptr || value.empty()) {
    throw std::invalid_argument("'" + std::string(word) +
                                "' is not one of kernel=, array=, file=, line= and reason= with a "
                                "value");
  }
  *pattern = value;
}

Rule read_rule(std::string_view text) {
  Rule rule;
  const auto next_word = [&text] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (!word.starts_with("reason=")) text.remove_prefix(word.size());
    return word;
  };
  rule.kind = known_kind(next_word());
  rule.text = rule.kind;
  std::string_view word = next_word();
  for (; !word.empty() && !word.starts_with("reason="); word = next_word()) {
    read_condition(word, rule);
    rule.text += " " + std::string(word);
  }
  if (rule.source_line != 0 && rule.source.empty()) {
    throw std::invalid_argument("line= needs a file=");
  }
  if (rule.kernel.empty() && rule.array.empty() && rule.source.empty()) {
    throw std::invalid_argument("says nowhere which: give kernel=, array= or file=");
  }
  if (!word.empty()) rule.reason = text.substr(std::string_view("reason=").size());
  if (rule.reason.find_first_not_of(' ') == std::string::npos) {
    throw std::invalid_argument("has no reason: end the line with reason= and why it is right");
  }
  return rule;
}

}  // namespace

std::string title(const Finding& finding) {
  return finding.array.empty() ? finding.kind : finding.kind + " of " + finding.array;
}

std::string told(const Finding& finding, const std::string& kernel) {
  return (finding.file.empty() ? "simt" : finding.file + ":" + std::to_string(finding.line)) +
         (finding.is_note() ? ": note: " : ": error: ") + title(finding) + " in " + kernel + ": " +
         finding.message + " (" + std::to_string(finding.count) +
         (finding.count == 1 ? " time)" : " times)");
}

FailOn::FailOn(std::string_view words) {
  if (words == "none") return;
  for (;;) {
    const std::string_view word = words.substr(0, words.find(','));
    if (word == "errors") {
      errors_ = true;
    } else if (word == "notes") {
      errors_ = notes_ = true;
    } else if (hazard_named(word)) {
      kinds_.emplace_back(word);
    } else {
      throw std::invalid_argument("'" + std::string(word) +
                                  "' is not one of errors, notes, none and the kinds of findings, "
                                  "such as race");
    }
    if (word.size() == words.size()) return;
    words.remove_prefix(word.size() + 1);
  }
}

bool FailOn::fails(const Finding& finding) const {
  return (finding.is_note() ? notes_ : errors_) ||
         std::find(kinds_.begin(), kinds_.end(), finding.kind) != kinds_.end();
}

bool Rule::is_for(const Finding& finding, const std::string& its_kernel) const {
  if (kind != finding.kind) return false;
  if (!kernel.empty() && !fits(kernel, its_kernel) && !fits(kernel, short_name(its_kernel))) {
    return false;
  }
  if (!array.empty() && !fits(array, finding.array)) return false;
  const auto is_place = [&](const std::string& at, int its_line) {
    return fits_path(source, at) && (source_line == 0 || source_line == its_line);
  };
  // Which of two parties comes first is the grid's order, not the reader's.
  return source.empty() || is_place(finding.file, finding.line) ||
         is_place(finding.other_file, finding.other_line);
}

std::string told_unused(const Rule& rule) {
  return rule.file + ":" + std::to_string(rule.line) + ": note: suppresses nothing: " + rule.text;
}

std::vector<Rule> read_suppressions(const std::string& file) {
  std::ifstream in(file);
  std::vector<Rule> rules;
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
    if (text.empty() || text.front() == '#') continue;
    try {
      rules.push_back(read_rule(text));
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(file + ":" + std::to_string(line) + ": " + error.what());
    }
    rules.back().file = file;
    rules.back().line = line;
  }
  if (!in.eof()) throw std::runtime_error(file + ": the suppressions cannot be read");
  return rules;
}

}  // namespace simt::report
