// The command line of a program.
#pragma once

#include <cstdint>
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

  // The heading under which --help lists the options that follow; "Options" until then.
  void group(const std::string& title);
  // `unit` is shown behind the name (N, FILE). The value is left alone if the option is not given.
  void option(const std::string& name, const std::string& unit, std::string& value,
              const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  // The next positional argument; may be left out.
  void positional(const std::string& name, std::string& value, const std::string& help);

  // True: go on. False: --help was printed. Throws UsageError for what it does not know, and for an
  // option given twice or without its value.
  bool parse(int argc, const char* const* argv);

 private:
  struct Argument {
    std::string name;
    std::string unit;
    std::string help;
    std::string group;
    std::string* value = nullptr;  // or
    bool* flag = nullptr;
    bool given = false;
  };
  void print_help(const std::string& program) const;
  // Whether the word behind it, null if there is none, was its value.
  bool take_option(const std::string& word, const char* next);
  void take_positional(const std::string& word);

  std::string description_;
  std::string examples_;
  std::string group_ = "Options";
  std::vector<Argument> options_;
  std::vector<Argument> positionals_;
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
