// `simt SUBCOMMAND ...`: commands.hpp says what there is.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/simt/command/commands.hpp"

namespace {

struct Subcommand {
  std::string_view name;
  int (*start)(char** words);
  const char* words;
  const char* does;
  bool has_help = false;  // it knows --help itself
};

constexpr Subcommand kSubcommands[] = {
    {"run", simt::command::run, "[--fail-on WORDS] [--suppressions FILE] PROGRAM [ARGUMENT...]",
     "a program of simcc, or of nvcc -cudart shared, in the simulator"},
    {"debug", simt::command::debug, "[--dap] PROGRAM [ARGUMENT...]",
     "one of simcc -G: its kernels are stopped and stepped"},
    {"findings", simt::command::findings,
     "[--format text|github] [--sarif FILE] [--junit FILE] [--fail-on WORDS] REPORT...",
     "what the reports of many programs say (SIMT_REPORT=FILE writes one)", true},
    {"ptx", simt::command::ptx, "FILE...",
     "what is in a file of nvcc -ptx -lineinfo: widths of accesses, unknown instructions"},
    {"suite", simt::command::suite,
     "FOLDER TABLE [-j N] [--limit SECONDS] [--keep FOLDER] [--json FILE]",
     "labelled programs: is what is found in them what the table expects?", true},
};

void show(const Subcommand& one) {
  std::printf("simt %s %s\n    %s\n", one.name.data(), one.words, one.does);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const auto asks_for_help = [](std::string_view one) { return one == "--help" || one == "-h"; };
  if (word == "--version") std::puts("simt " SIMT_VERSION);
  std::string names;
  for (const Subcommand& one : kSubcommands) {
    if (asks_for_help(word)) show(one);
    names += (names.empty() ? "" : ", ") + std::string(one.name);
    if (one.name != word) continue;
    if (argc < 3) throw std::runtime_error("type simt " + std::string(word) + " " + one.words);
    if (one.has_help || !asks_for_help(argv[2])) return one.start(argv + 2);
    show(one);
    return simt::command::kGood;
  }
  if (asks_for_help(word) || word == "--version") return simt::command::kGood;
  throw std::runtime_error((word.empty() ? "which command? It has "
                                         : "there is no command '" + std::string(word) + "': ") +
                           names + " (simt --help)");
} catch (const std::exception& error) {
  std::fprintf(stderr, "simt: %s\n", error.what());
  return simt::command::kWrongUse;
}
