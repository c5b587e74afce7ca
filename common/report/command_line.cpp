// Of CLI11 what it needs: the whole takes half as long again.
#include "common/report/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>

#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"

namespace halo {

namespace {

// An empty value is a slip (an unset shell variable), not a wish for the default.
CLI::Validator not_empty() {
  return {[](const std::string& value) {
            return value.empty() ? std::string("the value is empty") : std::string();
          },
          ""};
}

// Help in lines that fit beside the names; CLI11 puts them in line.
std::string folded(const std::string& help) {
  constexpr std::size_t kWidth = 70;
  std::string lines;
  std::size_t length = 0;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find(' ', at), help.size());
    if (length > 0 && length + 1 + end - at > kWidth) {
      lines += '\n';
      length = 0;
    } else if (length > 0) {
      lines += ' ';
      ++length;
    }
    lines.append(help, at, end - at);
    length += end - at;
    at = end + 1;
  }
  return lines;
}

}  // namespace

struct CommandLine::App {
  CLI::App app;
  std::string group = "Options";
};

CommandLine::CommandLine(const std::string& description, const std::string& examples)
    : app_(std::make_unique<App>()) {
  app_->app.description(description);
  app_->app.footer(examples);
  // A negative number is a bad value, not an option: `-5` as the length must say so.
  app_->app.allow_extras(false);
}

CommandLine::~CommandLine() = default;

void CommandLine::group(const std::string& title) { app_->group = title; }

void CommandLine::option(const std::string& names, const std::string& unit, std::string& value,
                         const std::string& help) {
  app_->app.add_option(names, value, folded(help))
      ->type_name(unit)
      ->check(not_empty())
      ->group(app_->group);
}

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
  app_->app.add_flag(names, value, folded(help))->group(app_->group);
}

void CommandLine::positional(const std::string& name, std::string& value, const std::string& help) {
  app_->app.add_option(name, value, folded(help))->type_name("")->check(not_empty());
}

bool CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& help) {
    app_->app.exit(help);
    return false;
  } catch (const CLI::ExtrasError&) {
    // What is wrong is the first of them; what follows an unknown option may be its value.
    const std::vector<std::string> extras = app_->app.remaining();
    const std::string first = extras.empty() ? "" : extras.front();
    // What a word processor makes of two hyphens.
    if (first.starts_with("\xe2\x80\x93") || first.starts_with("\xe2\x80\x94")) {
      throw UsageError(data::quoted(first) + " begins with a dash: options begin with two hyphens");
    }
    if (!first.starts_with('-')) {
      throw UsageError("too many arguments: " + data::quoted(first) +
                       " (--help shows the options)");
    }
    std::vector<std::string> names;
    for (const CLI::Option* option : app_->app.get_options()) {
      if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames().front());
    }
    const std::string word = first.substr(0, first.find('='));
    throw UsageError("unknown option " + data::printable(word, 100) +
                     data::did_you_mean(word, names) + " (--help shows the options)");
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string words = error.what();
    const std::string name = words.substr(0, words.find(':'));
    if (words.find("required") == std::string::npos) {
      throw UsageError(words + " (--help shows the options)");
    }
    throw UsageError(name + (words.find("received") == std::string::npos
                                 ? " needs a value after it (--help shows the options)"
                                 : " is given more than once"));
  } catch (const CLI::ParseError& error) {
    std::string line = error.what();
    for (char& letter : line) {
      if (letter == '\n') letter = ' ';
    }
    throw UsageError(line + " (--help shows the options)");
  }
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
