#include "common/report/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"

namespace halo {

namespace {

constexpr const char* kHint = " (--help shows the options)";

// A name, and what it is in lines beside it.
std::string help_line(const std::string& name, const std::string& help) {
  constexpr std::size_t kNames = 30;
  constexpr std::size_t kWidth = 70;
  std::string text = "  " + name;
  if (text.size() >= kNames) text += '\n' + std::string(kNames, ' ');
  text.append(text.size() < kNames ? kNames - text.size() : 0, ' ');
  std::size_t length = 0;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find(' ', at), help.size());
    if (length > 0 && length + 1 + end - at > kWidth) {
      text += '\n' + std::string(kNames, ' ');
      length = 0;
    } else if (length > 0) {
      text += ' ';
      ++length;
    }
    text.append(help, at, end - at);
    length += end - at;
    at = end + 1;
  }
  return text + '\n';
}

// An empty value is a slip (an unset shell variable), not a wish for the default.
void require_some(const std::string& name, const std::string& value) {
  if (value.empty()) throw UsageError(name + ": the value is empty");
}

// A negative number is a bad value, not an option: `-5` as the length must say so.
bool is_option(const std::string& word) {
  if (word.size() < 2 || word[0] != '-') return false;
  const char letter = static_cast<char>(word[1] | 0x20);
  return word[1] == '-' || (letter >= 'a' && letter <= 'z');
}

}  // namespace

CommandLine::CommandLine(const std::string& description, const std::string& examples)
    : description_(description), examples_(examples) {}

void CommandLine::group(const std::string& title) { group_ = title; }

void CommandLine::option(const std::string& name, const std::string& unit, std::string& value,
                         const std::string& help) {
  options_.push_back({name, unit, help, group_, &value});
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
  options_.push_back({name, "", help, group_, nullptr, &value});
}

void CommandLine::positional(const std::string& name, std::string& value, const std::string& help) {
  positionals_.push_back({name, "", help, "", &value});
}

void CommandLine::print_help(const std::string& program) const {
  std::string text = description_ + "\nUsage: " + program + " [OPTIONS]";
  for (const Argument& one : positionals_) text += " [" + one.name + "]";
  text += '\n';
  if (!positionals_.empty()) text += "\nPositionals:\n";
  for (const Argument& one : positionals_) text += help_line(one.name, one.help);
  text += "\nOptions:\n" + help_line("-h,--help", "Print this help message and exit");
  std::string group = "Options";
  for (const Argument& one : options_) {
    if (one.group != group) text += "\n" + one.group + ":\n";
    group = one.group;
    text += help_line(one.name + (one.unit.empty() ? "" : " ") + one.unit, one.help);
  }
  if (!examples_.empty()) text += "\n" + examples_ + "\n";
  std::fputs(text.c_str(), stdout);
}

bool CommandLine::parse(int argc, const char* const* argv) {
  const auto asks_help = [](const std::string& word) { return word == "-h" || word == "--help"; };
  if (argc > 1 && std::any_of(argv + 1, argv + argc, asks_help)) {
    print_help(argv[0]);
    return false;
  }
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    if (!is_option(word)) {
      take_positional(word);
    } else if (take_option(word, at + 1 < argc ? argv[at + 1] : nullptr)) {
      ++at;
    }
  }
  return true;
}

bool CommandLine::take_option(const std::string& word, const char* next) {
  const std::size_t sign = word.find('=');
  const std::string name = word.substr(0, sign);
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const Argument& one) { return one.name == name; });
  if (found == options_.end()) {
    std::vector<std::string> names = {"--help"};
    for (const Argument& one : options_) names.push_back(one.name);
    throw UsageError("unknown option " + data::printable(name, 100) +
                     data::did_you_mean(name, names) + kHint);
  }
  if (found->flag) {
    if (sign != std::string::npos) throw UsageError(name + " takes no value" + kHint);
    *found->flag = true;
    return false;
  }
  const bool takes_next = sign == std::string::npos;
  if (takes_next && !next) throw UsageError(name + " needs a value behind it" + kHint);
  if (found->given) throw UsageError(name + " is given more than once" + kHint);
  found->given = true;
  *found->value = takes_next ? next : word.substr(sign + 1);
  require_some(name, *found->value);
  return takes_next;
}

void CommandLine::take_positional(const std::string& word) {
  const auto free = std::find_if(positionals_.begin(), positionals_.end(),
                                 [](const Argument& one) { return !one.given; });
  if (free == positionals_.end()) {
    // What a word processor makes of two hyphens.
    if (word.starts_with("\xe2\x80\x93") || word.starts_with("\xe2\x80\x94")) {
      throw UsageError(data::quoted(word) + " begins with a dash: options begin with two hyphens");
    }
    throw UsageError("too many arguments: " + data::quoted(word) + kHint);
  }
  require_some(free->name, word);
  free->given = true;
  *free->value = word;
}

std::int64_t parse_number(const std::string& what, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) {
    throw UsageError(what + ": '" + text + "' is not a whole number from " + with_commas(least) +
                     " to " + with_commas(most));
  }
  return value;
}

std::uint64_t parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stop != end) {
    throw UsageError("--seed: '" + text +
                     "' is not a whole number from 0 to 18,446,744,073,709,551,615");
  }
  return seed;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char letter : text) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

std::string with_commas(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace halo
