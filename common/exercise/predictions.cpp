#include "common/exercise/predictions.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "common/data/file.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

constexpr std::size_t kLongestKey = 120;
constexpr std::size_t kLongestQuestion = 400;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// A line of the file, taken to its parts; the key as it is spelled today.
struct Parts {
  std::string comment;  // a line that is only that
  std::string key;
  std::string value;
  bool has_equals = false;
};

Parts parts_of_line(const std::string& line) {
  Parts parts;
  const std::string text = trimmed(line);
  if (text.starts_with("#")) {
    parts.comment = trimmed(text.substr(1));
    return parts;
  }
  const std::string said = trimmed(text.substr(0, text.find('#')));
  const std::size_t equals = said.find('=');
  parts.has_equals = equals != std::string::npos;
  parts.key = current_key(trimmed(said.substr(0, equals)));
  if (parts.has_equals) parts.value = trimmed(said.substr(equals + 1));
  return parts;
}

// The lines with their ends.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
    lines.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return lines;
}

std::string without_end(std::string line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

std::string current_key(std::string key) {
  for (const std::string word : {"_a_", "_an_"}) {
    if (const std::size_t at = key.find(word); at != std::string::npos) {
      key.replace(at, word.size(), "_per_");
    }
  }
  return key;
}

const Predictions::Line* Predictions::find(const std::string& key) const {
  for (const Line& line : lines) {
    if (line.key == key) return &line;
  }
  return nullptr;
}

std::optional<double> parse_figure(const std::string& text) {
  std::string digits = trimmed(text);
  if (digits.starts_with("+")) digits.erase(0, 1);
  // A comma stands behind a digit that is not 0, and before three: 9,25 is no number, rather than 925.
  for (std::size_t at; (at = digits.find(',')) != std::string::npos; digits.erase(at, 1)) {
    const std::size_t end = std::min(digits.find_first_not_of("0123456789", at + 1), digits.size());
    if (end != at + 4 || digits.find_first_of("123456789") > at) return {};
  }
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || error != std::errc() || at != end || !std::isfinite(value)) return {};
  return value;
}

std::string figure_text(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return with_commas(static_cast<std::int64_t>(value));
  }
  char text[400];
  char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 6).ptr;
  while (end[-1] == '0') --end;
  if (end[-1] == '.') --end;
  return {text, end};
}

Predictions parse_predictions(const std::string& text, const std::string& origin) {
  Predictions predictions;
  std::string question;
  bool ended = true;  // the next comment begins another question
  int number = 0;
  for (const std::string& line : whole_lines(text)) {
    ++number;
    const Parts parts = parts_of_line(without_end(line));
    const auto fault = [&](const std::string& what) {
      predictions.faults.push_back(origin + ":" + std::to_string(number) + ": " + what);
    };
    if (!parts.comment.empty()) {
      if (ended) question.clear();
      ended = false;
      question += (question.empty() ? "" : " ") + data::printable(parts.comment, kLongestQuestion);
      continue;
    }
    if (parts.key.empty() && !parts.has_equals) {
      ended = true;  // a blank line: what stood above it was about the whole file
      continue;
    }
    ended = true;
    const std::string key = data::printable(parts.key, kLongestKey);
    if (!parts.has_equals || key.empty()) {
      fault(data::quoted(data::printable(without_end(line), kLongestKey)) +
            " is not of the form `key = number`");
    } else if (predictions.find(key) != nullptr) {
      fault(key + " is answered twice; the first answer counts");
    } else {
      predictions.lines.push_back({key, question, parse_figure(parts.value)});
      if (!parts.value.empty() && !predictions.lines.back().said) {
        fault(data::quoted(parts.value) + " is no number: write 264, 1,024 or 9.25");
      }
      question.clear();
    }
  }
  return predictions;
}

std::string with_prediction(const std::string& text, const std::string& key, double said) {
  std::string changed;
  bool done = false;
  for (const std::string& line : whole_lines(text)) {
    const std::string bare = without_end(line);
    const Parts parts = parts_of_line(bare);
    if (done || parts.key != key || !parts.has_equals) {
      changed += line;
      continue;
    }
    done = true;
    const std::size_t comment = bare.find('#');
    std::string number = figure_text(said);
    std::erase(number, ',');
    changed += bare.substr(0, bare.find('=') + 1) + " " + number +
               (comment == std::string::npos ? "" : "  " + bare.substr(comment)) +
               line.substr(bare.size());
  }
  if (!done) throw std::invalid_argument("no question " + key);
  return changed;
}

bool Judged::right() const {
  return said && std::abs(*said - question.answer) <= question.tolerance;
}

}  // namespace halo
