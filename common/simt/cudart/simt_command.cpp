// `simt ptx FILE...`: what is in a file of PTX: its kernels, what each of them needs, and the forms of instructions
// they are made of.
// `simt run PROGRAM ARGUMENT...`: a program that nvcc -cudart shared made, or simcc, in the simulator.
// `simt debug [--dap] PROGRAM ARGUMENT...`: one of simcc -G, whose kernels are stopped and stepped at this terminal, or by an
// editor that has started this command.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "common/simt/debug/client.hpp"
#include "common/simt/machine/code.hpp"
#include "common/simt/machine/merge.hpp"
#include "common/simt/ptx/parse.hpp"

namespace {

constexpr int kWrongUse = 2;

std::string file_text(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && !file.eof()) throw std::runtime_error(name + ": cannot be read");
  return text;
}

void show(const simt::ptx::Module& module, const simt::ptx::Function& function) {
  std::printf("  %s\n    %zu instructions", simt::ptx::demangled(function.name).c_str(),
              function.body.size());
  std::printf(", %llu bytes of parameters",
              static_cast<unsigned long long>(simt::ptx::parameter_places(function).back()));
  const auto tell = [](const simt::ptx::Variable& one) {
    const char* const where = one.space == simt::ptx::Space::shared ? "shared" : "local";
    if (one.bytes == 0) {
      std::printf("\n    %s %s: as large as the launch says", where,
                  simt::ptx::demangled(one.name).c_str());
    } else {
      std::printf("\n    %s %s: %lld bytes", where, simt::ptx::demangled(one.name).c_str(),
                  static_cast<long long>(one.bytes));
    }
  };
  for (const simt::ptx::Variable& one : function.variables) {
    if (one.space == simt::ptx::Space::shared || one.space == simt::ptx::Space::local) tell(one);
  }
  for (const simt::ptx::Variable& one : module.variables) {
    if (one.space == simt::ptx::Space::shared && function.uses(one.name)) tell(one);
  }
  // As ptxas would write them: so many of each width, of a lane.
  const simt::machine::Rewritten rewritten =
      simt::machine::rewrite_as_ptxas(module, function, simt::ptx::shared_places(module, function));
  std::map<std::string, int> widths;
  const auto count = [&](const simt::ptx::Instruction& one) {
    if (one.opcode != "ld" && one.opcode != "st") return;
    const char* const where = one.has("global") ? "global" : one.has("shared") ? "shared" : nullptr;
    if (where == nullptr) return;
    const int bytes = simt::ptx::bytes_of(one.type()) * (one.has("v4") ? 4 : one.has("v2") ? 2 : 1);
    ++widths[std::string(where) + (one.opcode == "ld" ? " loads of " : " stores of ") +
             std::to_string(bytes) + " bytes"];
  };
  for (const simt::ptx::Instruction& one : function.body) {
    const auto found = rewritten.find(&one);
    if (found == rewritten.end()) {
      count(one);
    } else {
      for (const simt::ptx::Instruction& its : found->second) count(its);
    }
  }
  for (const auto& [width, times] : widths) std::printf("\n    %d %s", times, width.c_str());
  for (const std::string& form : simt::machine::unknown_forms(function)) {
    std::printf("\n    LACKS %s", form.c_str());
  }
  std::printf("\n");
}

int show_file(const std::string& name) {
  const auto module = simt::ptx::parse(file_text(name), name);
  std::printf("%s: PTX %s for %s\n", name.c_str(), module->version.c_str(), module->target.c_str());
  std::map<std::string, int> forms;
  for (const simt::ptx::Function& function : module->functions) {
    for (const simt::ptx::Instruction& one : function.body) ++forms[one.form()];
    if (function.is_entry) show(*module, function);
  }
  std::printf("  %zu forms of instructions\n", forms.size());
  for (const auto& [form, times] : forms) std::printf("  %6d %s\n", times, form.c_str());
  return 0;
}

// Does not return unless the program cannot be started.
int run_program(char** words) {
  std::string folders = SIMT_CUDART_FOLDER;
  const char* const others = std::getenv("LD_LIBRARY_PATH");
  if (others != nullptr && *others != '\0') folders += std::string(":") + others;
  setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  execvp(words[0], words);
  std::fprintf(stderr, "simt: %s cannot be started: %s\n", words[0], std::strerror(errno));
  return kWrongUse;
}

// Its exit status. An editor's or a terminal's words are not the program's: it reads nothing.
int debug_program(char** words, bool is_for_editor) {
  simt::debug::Listener listener;
  const pid_t child = fork();
  if (child == 0) {
    setenv("SIMT_DEBUG", listener.path().c_str(), 1);
    if (std::freopen("/dev/null", "r", stdin) == nullptr) _exit(kWrongUse);
    if (is_for_editor) dup2(STDERR_FILENO, STDOUT_FILENO);
    _exit(run_program(words));
  }
  std::thread user([&] { simt::debug::attend(listener, {}, is_for_editor); });
  int status = 0;
  waitpid(child, &status, 0);
  listener.stop();
  user.join();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string command = argc > 2 ? argv[1] : "";
  if (command == "run") return run_program(argv + 2);
  if (command == "debug") {
    const bool is_for_editor = std::string_view(argv[2]) == "--dap";
    if (!is_for_editor || argc > 3) return debug_program(argv + 2 + is_for_editor, is_for_editor);
  }
  if (command != "ptx") {
    std::fprintf(stderr,
                 "simt: usage: simt run PROGRAM [ARGUMENT...]\n"
                 "             simt debug [--dap] PROGRAM [ARGUMENT...] (of simcc -G)\n"
                 "             simt ptx FILE... (nvcc -ptx -lineinfo writes such files)\n");
    return kWrongUse;
  }
  for (int i = 2; i < argc; ++i) show_file(argv[i]);
  return std::fflush(stdout) == 0 ? 0 : 74;
} catch (const std::exception& error) {
  std::fprintf(stderr, "simt: %s\n", error.what());
  return kWrongUse;
}
