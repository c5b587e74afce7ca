// Every program of ./halo begins here. The script of that name at the top of the repository sets everything up, builds the
// program that does the command and calls it.
#include "common/cli/program.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <string_view>

#include "common/build/builder.hpp"
#include "common/cli/commands.hpp"
#include "common/data/file.hpp"
#include "common/data/suggestion.hpp"
#include "common/process/process.hpp"
#include "common/report/command_line.hpp"
#include "common/report/rows.hpp"
#include "common/report/terminal.hpp"

namespace halo {
namespace {

namespace fs = std::filesystem;

struct Listed {
  std::string typed;    // "run [STAGE]"; empty: a line between groups
  std::string program;  // halo-cli
  std::string does;
  std::string name() const { return typed.substr(0, typed.find(' ')); }
};

std::vector<Listed> listed_commands() {
  std::vector<Listed> all;
  std::istringstream lines(kCommandList);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find('|');
    const std::size_t second = line.find('|', first + 1);
    all.push_back(line.empty()
                      ? Listed()
                      : Listed{line.substr(0, first), line.substr(first + 1, second - first - 1),
                               line.substr(second + 1)});
  }
  return all;
}

std::string usage() {
  std::string text =
      "Halo: a course in CUDA convolution that runs with or without a GPU.\n"
      "Usage: halo COMMAND [OPTIONS]\n"
      "\n"
      "Commands (each has --help):\n";
  constexpr std::size_t kWidth = 14;
  for (const Listed& one : listed_commands()) {
    if (!one.typed.empty()) {
      text += "  " + one.typed;
      text += one.typed.size() > kWidth ? "\n" + std::string(3 + kWidth, ' ')
                                        : std::string(1 + kWidth - one.typed.size(), ' ');
    }
    text += one.does + "\n";
  }
  return text +
         "\n"
         "  help COMMAND   the same as COMMAND --help\n"
         "\n"
         "Options, before the command:\n"
         "  --help         this text\n"
         "  --version      the version\n"
         "  --build DIR    use this build folder, not the one that the program is in\n"
         "\n"
         "Exit codes: 0 good, 1 a check or a test failed, 2 wrong use or a program that does not "
         "compile,\n"
         "74 results could not be written, 77 nothing could be run. Where several hold, the first "
         "of\n"
         "74, 1, 2, 77; the other programs still run.\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Listed& one : listed_commands()) {
    if (!one.typed.empty()) names.push_back(one.name());
  }
  return names;
}

// The programs stand in <build folder>/common/cli/.
fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

int complain(const std::string& text, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "halo: %s\n", data::printable(text, 2000).c_str());
  return code;
}

// Becomes the program that does the command.
[[noreturn]] int hand_over(const Listed& command, const Global& global, char** argv) {
  execv((own_folder() / command.program).c_str(), argv);
  const BuildFolder build(global.build);
  if (!build.makes(build.own_program(command.program))) {
    throw CannotRun("this is a student's copy of the course, which cannot " + command.name() +
                    ": ./halo try judges an exercise");
  }
  throw CannotRun(command.program + " is not built yet: type ./halo " + command.name());
}

// What this shell allows may be too little for compilers, which then break off in words of their own. Throws MachineFault.
void require_limits() {
  struct Needed {
    int resource;
    rlim_t least, usual;
    const char *what, *letter;  // of ulimit
  };
  constexpr rlim_t kMiB = rlim_t{1} << 20;
  for (const Needed& one : {Needed{RLIMIT_STACK, kMiB, 8 * kMiB, "bytes of stack", "s"},
                            Needed{RLIMIT_NOFILE, 32, 1024, "open files", "n"}}) {
    rlimit limit = {};
    if (getrlimit(one.resource, &limit) != 0 || limit.rlim_cur >= one.least) continue;
    limit.rlim_cur = std::min(limit.rlim_max, one.usual);
    if (limit.rlim_cur >= one.least && setrlimit(one.resource, &limit) == 0) continue;
    throw MachineFault(
        "this shell allows " + std::to_string(limit.rlim_max) + " " + one.what +
        ", too little, and only root may raise that: open another shell, or remove the ulimit -" +
        one.letter + " from what started this one");
  }
}

int run(int argc, char** argv, const std::map<std::string, Command>& commands) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    // An unset variable in somebody's script, never a choice.
    if (word.empty() || (word.substr(0, 2) == "--" && word.back() == '=')) {
      const std::string_view before = argv[i - 1];
      const std::string name(word.empty() ? before : word.substr(0, word.size() - 1));
      throw WrongUse(name.starts_with("--") ? name + ": the value is empty"
                                            : "an argument after '" + name + "' is empty");
    }
  }
  Global global{own_folder().parent_path().parent_path()};
  int at = 1;
  for (; at < argc && argv[at][0] == '-'; ++at) {
    const std::string word = argv[at];
    if (word == "--help" || word == "-h") {
      std::fputs(usage().c_str(), stdout);
      return 0;
    }
    if (word == "--version") {
      std::puts(HALO_VERSION);
      return 0;
    }
    if (word == "--build" && at + 1 < argc) {
      global.build = fs::absolute(argv[++at]);
    } else {
      throw WrongUse("unknown option " + word + " before the command (./halo --help)");
    }
  }
  if (at == argc) throw WrongUse("which command? " + any_of(command_names()) + " (./halo --help)");

  const bool asks_for_help = std::any_of(
      argv + at, argv + argc, [](const char* word) { return word == std::string_view("--help"); });
  if (std::string_view(argv[at]) != "help" && !asks_for_help) require_limits();
  // The command's own arguments, under a name that fits its --help.
  const std::string command = argv[at];
  const std::string name = "./halo " + command;
  std::vector<const char*> words(argv + at, argv + argc);
  words[0] = name.c_str();
  const int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  if (command == "help") {
    if (at + 1 == argc || std::string_view(argv[at + 1]) == "help") {
      std::fputs(usage().c_str(), stdout);
      return 0;
    }
    char help[] = "--help";
    char* of[] = {argv[0], argv[at + 1], help, nullptr};
    return run(3, of, commands);
  }
  const auto found = commands.find(command);
  if (found != commands.end()) {
    keep_set_up(global.build);
    return found->second(global, count, words.data());
  }
  for (const Listed& one : listed_commands()) {
    if (!one.typed.empty() && one.name() == command) return hand_over(one, global, argv);
  }
  throw WrongUse("unknown command '" + command + "'" +
                 data::did_you_mean(command, command_names()) + " (" + any_of(command_names()) +
                 "; see ./halo --help)");
}

// What went wrong is one line.
int run_or_complain(int argc, char** argv, const std::map<std::string, Command>& commands) {
  try {
    return run(argc, argv, commands);
  } catch (const data::NotWritten& error) {
    return complain(error.what(), kNotWritten);
  } catch (const WrongUse& error) {
    return complain(error.what(), 2);
  } catch (const UsageError& error) {
    return complain(error.what(), 2);
  } catch (const CannotRun& error) {
    return complain(error.what(), 77);
  } catch (const MachineFault& error) {
    return complain(error.what(), kNotWritten);
  } catch (const NoVerdict& error) {
    return complain(error.what(), 1);
  } catch (const Interrupted& interrupted) {
    return complain("interrupted", 128 + interrupted.signal);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", 2);
  } catch (const std::exception& error) {
    return complain(error.what(), 2);
  }
}

}  // namespace

int run_command(int argc, char** argv, const std::map<std::string, Command>& commands) {
  open_standard_streams();
  const int status = run_or_complain(argc, argv, commands);
  const std::string lost = lost_output();
  return lost.empty() ? status : complain(lost, kNotWritten);
}

void require_one_of(const std::string& option, const std::string& value,
                    const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  std::string text;
  for (const std::string& choice : choices) text += (text.empty() ? "" : ", ") + choice;
  throw WrongUse(option + ": '" + value + "' is not one of " + text +
                 data::did_you_mean(value, choices));
}

}  // namespace halo
