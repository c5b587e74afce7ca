// `simt SUBCOMMAND ...`: commands.hpp says what there is.
#include <cstdio>
#include <exception>
#include <string_view>

#include "common/simt/command/commands.hpp"

namespace {

struct Subcommand {
  std::string_view name;
  int (*start)(char** words);
  const char* usage;
};

constexpr Subcommand kSubcommands[] = {
    {"run", simt::command::run,
     "run [--fail-on WORDS] [--suppressions FILE] PROGRAM [ARGUMENT...]"},
    {"debug", simt::command::debug, "debug [--dap] PROGRAM [ARGUMENT...] (of simcc -G)"},
    {"findings", simt::command::findings,
     "findings [--format text|github] [--sarif FILE] [--junit FILE] [--fail-on WORDS] REPORT..."},
    {"ptx", simt::command::ptx, "ptx FILE... (nvcc -ptx -lineinfo writes such files)"},
    {"suite", simt::command::suite,
     "suite FOLDER TABLE [-j N] [--limit SECONDS] [--keep FOLDER] [--json FILE]"},
};

}  // namespace

int main(int argc, char** argv) try {
  for (const Subcommand& one : kSubcommands) {
    if (argc > 2 && one.name == argv[1]) return one.start(argv + 2);
  }
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "--version") {
    std::puts("simt " SIMT_VERSION);
    return 0;
  }
  const bool is_asked = word == "--help" || word == "-h";
  const char* before = "simt: usage:";
  for (const Subcommand& one : kSubcommands) {
    std::fprintf(is_asked ? stdout : stderr, "%-12s simt %s\n", before, one.usage);
    before = "";
  }
  return is_asked ? 0 : simt::command::kWrongUse;
} catch (const std::exception& error) {
  std::fprintf(stderr, "simt: %s\n", error.what());
  return simt::command::kWrongUse;
}
