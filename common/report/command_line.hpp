// The command line of a stage program. A thin face on CLI11, so that only one file compiles it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace halo {

// Wrong use: what() is one line. Programs print it and end with 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class CommandLine {
 public:
  // Both texts are shown by --help: what the program is, and examples.
  CommandLine(const std::string& description, const std::string& examples);
  ~CommandLine();

  // The heading under which --help lists the options that follow; "Options" until then.
  void group(const std::string& title);
  // `names` as "--length" or "-o,--output"; `unit` is shown behind the name (N, FILE). The value is
  // left alone if the option is not given.
  void option(const std::string& names, const std::string& unit, std::string& value,
              const std::string& help);
  void flag(const std::string& names, bool& value, const std::string& help);
  // The next positional argument; may be left out.
  void positional(const std::string& name, std::string& value, const std::string& help);

  // True: go on. False: --help was printed. Throws UsageError for what it does not know, and for an
  // option given twice or without its value.
  bool parse(int argc, const char* const* argv);

 private:
  struct App;
  std::unique_ptr<App> app_;
};

// A whole number of [least, most]; `what` names it in the message. Throws UsageError.
std::int64_t parse_number(const std::string& what, const std::string& text, std::int64_t least,
                          std::int64_t most);

// --seed of any command: a whole number of 64 bits. Throws UsageError.
std::uint64_t parse_seed(const std::string& text);

// "a,b" -> a and b; without a comma one part, even if it is empty.
std::vector<std::string> split(const std::string& list);

// 1234567 -> "1,234,567".
std::string with_commas(std::int64_t value);

}  // namespace halo
