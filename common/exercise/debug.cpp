#include "common/exercise/debug.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace halo::exercises {

namespace {

// A file that goes with its owner.
class Script {
 public:
  explicit Script(const std::string& text) {
    char name[] = "/tmp/halo-gdb-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor < 0) throw std::runtime_error("no temporary file in /tmp for gdb's commands");
    path_ = name;
    const ssize_t written = write(descriptor, text.data(), text.size());
    close(descriptor);
    if (written != static_cast<ssize_t>(text.size())) {
      throw std::runtime_error(path_ + ": cannot be written");
    }
  }
  ~Script() { unlink(path_.c_str()); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return text.str();
}

}  // namespace

std::vector<int> kernel_lines(const std::string& text) {
  std::vector<int> lines;
  int line = 1;
  int parentheses = 0;
  bool in_head = false;  // between __global__ and the function's {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ++line;
    if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    if (text.compare(at, 10, "__global__") == 0) in_head = true;
    if (!in_head) continue;
    if (text[at] == '(') ++parentheses;
    if (text[at] == ')') --parentheses;
    if (parentheses > 0) continue;
    if (text[at] == ';') in_head = false;  // declared only
    if (text[at] == '{') {
      in_head = false;
      // What follows on the line is the body already.
      const std::size_t more = text.find_first_not_of(" \t", at + 1);
      lines.push_back(more != std::string::npos && text[more] == '\n' ? line + 1 : line);
    }
  }
  return lines;
}

std::string gdb_commands(const std::string& file, const std::vector<int>& lines, std::int64_t block,
                         std::int64_t thread, bool batch) {
  // What kernels read as threadIdx is there once the program runs.
  std::string text =
      "set pagination off\n"
      "set confirm off\n"
      "set print thread-events off\n"
      "set environment SIMT_THREADS 1\n"
      "tbreak main\n"
      "run\n";
  // As numbers: gdb knows the types only of those that the file uses.
  const auto part = [](const std::string& name, int at) {
    return "*((unsigned*)&" + name + " + " + std::to_string(at) + ")";
  };
  const auto linear = [&](const std::string& index, const std::string& of) {
    return "(" + part(index, 2) + " * " + part(of, 1) + " + " + part(index, 1) + ") * " +
           part(of, 0) + " + " + part(index, 0);
  };
  const std::string condition = linear("blockIdx", "gridDim") + " == " + std::to_string(block) +
                                " && " + linear("threadIdx", "blockDim") +
                                " == " + std::to_string(thread);
  for (const int line : lines) {
    text += "break " + file + ":" + std::to_string(line) + " if " + condition + "\n";
  }
  text += "continue\n";
  const auto tell = [&](const std::string& name) {
    return "printf \"" + name + " = {x = %u, y = %u, z = %u}\\n\", " + part(name, 0) + ", " +
           part(name, 1) + ", " + part(name, 2) + "\n";
  };
  text += tell("threadIdx") + tell("blockIdx");
  if (batch) {
    text += "info locals\nwhere 1\nkill\n";
  } else {
    text +=
        "echo next: the next line   print i   print tile[0]@8   info locals   continue   quit\\n\n";
  }
  return text;
}

int debug(const Contract& contract, Check& check, const DebugOptions& options, std::uint64_t seed) {
  try {
    std::vector<int> lines = {options.line};
    if (options.line == 0) lines = kernel_lines(text_of(options.file));
    if (lines.empty()) throw std::runtime_error(options.file + ": there is no __global__ function");
    const FirstFault fault = check.first_fault();
    const std::int64_t block = options.block.value_or(fault.owner.block);
    const std::int64_t thread = options.thread.value_or(fault.owner.thread);
    std::fprintf(stderr, "%s; stopping in thread %lld of block %lld\n", fault.words.c_str(),
                 static_cast<long long>(thread), static_cast<long long>(block));
    const Script script(gdb_commands(options.file, lines, block, thread, options.batch));
    std::vector<std::string> command = {"gdb", "-q", "-nx", "-x", script.path()};
    if (options.batch) command.insert(command.begin() + 1, "-batch");
    command.insert(command.end(), {"--args", options.program});
    Check held(contract, WorkerCommand{.words = command, .is_held = true}, options.file, seed);
    held.run_once(fault.problem);
    return 0;
  } catch (const std::runtime_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace halo::exercises
