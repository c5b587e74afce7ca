// The only file that includes CLI11, and of that what it needs: the whole takes half as long again.
#include "common/report/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>

namespace halo {

namespace {

// An empty value is a slip (an unset shell variable), not a wish for the default.
CLI::Validator not_empty() {
  return {[](const std::string& value) {
            return value.empty() ? std::string("the value is empty") : std::string();
          },
          ""};
}

}  // namespace

struct CommandLine::App {
  CLI::App app;
};

CommandLine::CommandLine(const std::string& description, const std::string& examples)
    : app_(std::make_unique<App>()) {
  app_->app.description(description);
  app_->app.footer(examples);
  // A negative number is a bad value, not an option: `-5` as the length must say so.
  app_->app.allow_extras(false);
}

CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& names, const std::string& unit, std::string& value,
                         const std::string& help) {
  app_->app.add_option(names, value, help)->type_name(unit)->check(not_empty());
}

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
  app_->app.add_flag(names, value, help);
}

void CommandLine::positional(const std::string& name, std::string& value, const std::string& help) {
  app_->app.add_option(name, value, help)->type_name("")->check(not_empty());
}

bool CommandLine::parse(int argc, const char* const* argv) {
  try {
    app_->app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& help) {
    app_->app.exit(help);
    return false;
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
