// Programs in the simulator: they find our libcudart before NVIDIA's.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "common/simt/command/commands.hpp"
#include "common/simt/cudart/installation.hpp"
#include "common/simt/debug/client.hpp"

namespace simt::command {
namespace {

// What an option before the program's name stands for.
struct Option {
  std::string_view name;
  const char* variable;
};
constexpr Option kOptions[] = {{"--fail-on", "SIMT_FAIL_ON"},
                               {"--suppressions", "SIMT_SUPPRESSIONS"}};

// Sets the variables; the words from the program's name on.
char** heed_options(char** words) {
  for (; words[0] != nullptr && std::string_view(words[0]).starts_with("--"); ++words) {
    const std::string_view word = words[0], name = word.substr(0, word.find('='));
    const auto* const option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                            [&](const Option& one) { return one.name == name; });
    if (option == std::end(kOptions)) {
      throw std::runtime_error("there is no option " + std::string(name) +
                               " before the program's name");
    }
    const bool is_one_word = name.size() < word.size();
    if (!is_one_word && *++words == nullptr) {
      throw std::runtime_error(std::string(name) + " needs a value");
    }
    setenv(option->variable, is_one_word ? word.data() + name.size() + 1 : *words, 1);
  }
  if (words[0] == nullptr) throw std::runtime_error("there is no program to start");
  return words;
}

std::filesystem::path found_on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return program;
}

// Python, or a script for it.
bool is_python(const std::filesystem::path& program) {
  if (program.filename().string().starts_with("python")) return true;
  char head[256] = {};
  std::ifstream(program, std::ios::binary).read(head, sizeof head - 1);
  const std::string line(head, std::strcspn(head, "\n"));
  return line.starts_with("#!") && line.find("python") != std::string::npos;
}

// Sets the environment, in which the program finds our libraries; the words from the program's name on.
char** prepare(char** words) {
  words = heed_options(words);
  const std::filesystem::path folder = library_folder();
  std::string folders = folder.string() + ":" + libraries_folder(folder).string();
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  if (others != nullptr && *others != '\0') folders += std::string(":") + others;
  setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  // Packages load NVIDIA's runtime from beside them, by its path. Who then asked for one by its name would get that.
  if (is_python(found_on_path(words[0]))) {
    const char* const earlier = std::getenv("LD_PRELOAD");
    const std::string own = "libcudart.so.13";
    setenv("LD_PRELOAD", (earlier == nullptr ? own : own + ":" + earlier).c_str(), 1);
  }
  return words;
}

// In this process; it comes back only if that is impossible, which it has said.
int start(char** words) {
  execvp(words[0], words);
  std::fprintf(stderr, "simt: %s cannot be started: %s\n", words[0], std::strerror(errno));
  return kWrongUse;
}

}  // namespace

int run(char** words) { return start(prepare(words)); }

int debug(char** words) {
  const bool is_for_editor = std::string_view(words[0]) == "--dap";
  words = prepare(words + is_for_editor);
  simt::debug::Listener listener;
  // Closed when the program starts: what is read before says that it could not be.
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) throw std::runtime_error("debug cannot make a pipe");
  const pid_t child = fork();
  if (child == 0) {
    setenv("SIMT_DEBUG", listener.path().c_str(), 1);
    // An editor's or a terminal's words are not the program's: it reads nothing.
    if (std::freopen("/dev/null", "r", stdin) == nullptr) _exit(kWrongUse);
    if (is_for_editor) dup2(STDERR_FILENO, STDOUT_FILENO);
    const int status = start(words);
    _exit(::write(failure[1], "", 1) == 1 ? status : kWrongUse);
  }
  ::close(failure[1]);
  char failed = 0;
  if (::read(failure[0], &failed, 1) == 1) return kWrongUse;
  ::close(failure[0]);
  simt::debug::Meeting meeting = simt::debug::Meeting::none;
  std::thread user([&] { meeting = simt::debug::attend(listener, {}, is_for_editor); });
  int status = 0;
  waitpid(child, &status, 0);
  listener.stop();
  user.join();
  if (meeting == simt::debug::Meeting::none) {
    std::fprintf(stderr, "simt: %s launched no kernel in the simulator: did simcc compile it?\n",
                 words[0]);
    if (status == 0) return kWrongUse;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace simt::command
