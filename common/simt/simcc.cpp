// simcc: compiles CUDA C++ for the simulator. It takes g++'s command line, so that
//   simcc histogram.cu -o histogram
// does what nvcc would, for a program that runs on the CPU. Each .cu is preprocessed, translated
// (translate.hpp) and compiled with instrumentation; the rest is left to g++.
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/simt/translate.hpp"
#include "common/simt/worlds.hpp"

#ifndef SIMT_VERSION
#define SIMT_VERSION "0.1.0"
#endif
#ifndef SIMT_CXX
#define SIMT_CXX "g++"
#endif

extern char** environ;

namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kHelp =
    R"(Usage: simcc FILE... [-o PROGRAM] [-c] [OPTIONS OF g++]
       simcc --translate FILE.cu -o OUT.sim.cpp [--depfile OUT.d] [-I.. -D.. -std=..]

Compiles CUDA C++ into a program that runs its kernels on the CPU, counts their memory traffic and
reports races, bad accesses and divergent barriers.

FILE is a .cu (translated and instrumented), .cpp .cc .cxx .c (compiled as it is, with the simulator's
CUDA headers), .o .a .so (linked). Options go to g++, with these exceptions:
  -O..          for .cu files always -O1, which keeps the accesses of the source; others: as given
  -D__CUDA_ARCH__=N  what device code sees; without it 900, for the GPU that is simulated by default
  --expt-relaxed-constexpr  device code may call constexpr functions of the host
  -x LANGUAGE   the language of the files that follow: cu, c++, c, none
  --translate   stop behind the translation; --depfile writes the dependencies for a build tool
  --keep        keep the translated source beside the output, as NAME.sim.cpp
  -v            show the commands
  --help, --version

The program obeys SIMT_REPORT=FILE, SIMT_GPU=NAME, SIMT_CHECKS=all|none|LIST, SIMT_THREADS=N
and SIMT_FAIL=FUNCTION:K, which makes the K-th call of that function fail.
SIMT_CXX names another g++. Exit status: 0 good, 1 the source is at fault, 2 wrong use.
)";

// One line on stderr, exit status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// ---- Command line
// ---------------------------------------------------------------------------------

enum class InputKind { cuda, cxx, link };

struct Input {
  InputKind kind = InputKind::link;
  std::string path;      // a file, or for `link` also an option such as -lm in its place
  std::string language;  // of a cxx file: "c++" or "" (by its name)
};

struct CommandLine {
  std::vector<Input> inputs;
  Arguments preprocess;      // -I, -D and what else only the preprocessor reads
  Arguments compile;         // -W, -f, -m, -std: every step
  Arguments link;            // options of the link whose place does not matter
  Arguments dependencies;    // -MD, -MF ..
  std::string optimisation;  // the last -O
  std::string debug;         // the last -g
  std::string output;
  std::string depfile;
  std::string architecture = "900";  // __CUDA_ARCH__ in device code: that of the default GPU
  bool relaxed_constexpr = false;
  bool compile_only = false;
  bool translate_only = false;
  bool keep = false;
  bool verbose = false;
  bool help = false;
  bool version = false;
};

InputKind kind_of_file(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".cu") return InputKind::cuda;
  if (is_one_of(extension, {".cpp", ".cc", ".cxx", ".c", ".C", ".c++", ".cp"})) {
    return InputKind::cxx;
  }
  if (is_one_of(extension, {".o", ".a", ".so", ".lo"}) ||
      fs::path(path).filename().string().find(".so.") != std::string::npos) {
    return InputKind::link;
  }
  throw UsageError(path + ": unknown kind of file; simcc takes .cu .cpp .cc .cxx .c .o .a .so");
}

void check_readable(const std::string& path) {
  if (fs::is_directory(path)) throw UsageError(path + ": is a folder, not a source file");
  if (access(path.c_str(), R_OK) != 0) throw UsageError(path + ": " + std::strerror(errno));
}

// What would break the simulator's figures, and what belongs to other compilers.
void refuse(const std::string& option) {
  const auto because = [&](const std::string& reason) { throw UsageError(option + ": " + reason); };
  if (is_one_of(option, {"-s", "-Wl,-s", "-Wl,--strip-all"})) {
    because("the simulator finds kernels in the program's symbol table; leave it in");
  }
  if (option.starts_with("-fsanitize")) {
    because("sanitizers do not go with the simulator's own instrumentation; leave it out");
  }
  if (option.starts_with("-flto"))
    because("link-time optimisation would merge kernels; leave it out");
  if (option == "-shared") because("kernels run only from a program, not from a shared library");
  if (is_one_of(option, {"-E", "-S", "-M", "-MM"})) {
    because("simcc makes objects and programs only (--keep shows the translated source)");
  }
  if (option.starts_with("-arch") || option.starts_with("--gpu-") ||
      option.starts_with("-gencode") || option.starts_with("-Xcompiler") ||
      option.starts_with("-Xptxas") || option.starts_with("-Xcudafe") ||
      option.starts_with("-rdc") || option.starts_with("--expt-") ||
      option.starts_with("--extended-lambda") || option.starts_with("--use_fast_math") ||
      option == "-lineinfo" || option == "-G") {
    because("this is an option of nvcc; simcc takes those of g++");
  }
}

// NVIDIA's own headers, which makefiles and the modules of clusters name by habit, would be found ahead of
// the simulator's.
bool is_toolkit(const std::string& folder) {
  return fs::exists(fs::path(folder) / "crt" / "host_runtime.h");
}

void leave_toolkits_out_of_environment() {
  for (const char* variable : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    std::istringstream folders(value);
    std::string kept;
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (!folder.empty() && !is_toolkit(folder)) kept += (kept.empty() ? "" : ":") + folder;
    }
    kept.empty() ? unsetenv(variable) : setenv(variable, kept.c_str(), 1);
  }
}

class CommandLineReader {
 public:
  explicit CommandLineReader(Arguments arguments) : arguments_(std::move(arguments)) {}

  CommandLine read() {
    for (; at_ < arguments_.size(); ++at_) {
      const std::string& argument = arguments_[at_];
      if (argument.size() > 1 && argument[0] == '-') {
        option(argument);
      } else {
        file(argument);
      }
    }
    if (!result_.help && !result_.version) check();
    return std::move(result_);
  }

 private:
  // The value of an option, in the same argument or the next.
  std::string value(const std::string& argument, std::size_t prefix) {
    if (argument.size() > prefix) return argument.substr(prefix);
    if (at_ + 1 == arguments_.size()) throw UsageError(argument + ": a value is missing behind it");
    return arguments_[++at_];
  }

  void option(const std::string& argument) {
    if (is_one_of(argument, {"--expt-relaxed-constexpr", "-expt-relaxed-constexpr"})) {
      result_.relaxed_constexpr = true;
      append(result_.preprocess, {"-D__CUDACC_RELAXED_CONSTEXPR__"});
      return;
    }
    refuse(argument);
    if (argument == "--help" || argument == "-h") {
      result_.help = true;
    } else if (argument == "--version") {
      result_.version = true;
    } else if (argument == "--translate") {
      result_.translate_only = true;
    } else if (argument == "--keep") {
      result_.keep = true;
    } else if (argument == "-v" || argument == "--verbose") {
      result_.verbose = true;
    } else if (argument == "--depfile") {
      result_.depfile = value(argument, argument.size());
    } else if (argument == "-c") {
      result_.compile_only = true;
    } else if (argument.starts_with("-o")) {
      result_.output = value(argument, 2);
    } else if (argument.starts_with("-O")) {
      result_.optimisation = argument;
    } else if (argument.starts_with("-g")) {
      result_.debug = argument;
    } else if (argument.starts_with("-x")) {
      language(value(argument, 2));
    } else if (is_one_of(argument, {"-MF", "-MT", "-MQ"})) {
      const std::string name = value(argument, argument.size());
      result_.dependencies.insert(result_.dependencies.end(), {argument, name});
    } else if (is_one_of(argument, {"-MD", "-MMD", "-MP", "-MG"})) {
      result_.dependencies.push_back(argument);
    } else if (is_one_of(argument, {"-include", "-imacros", "-isystem", "-iquote", "-idirafter",
                                    "-iprefix", "-isysroot", "-Xpreprocessor"})) {
      pair(result_.preprocess, argument);
    } else if (argument.starts_with("-I")) {
      const std::string folder = value(argument, 2);
      if (!is_toolkit(folder)) append(result_.preprocess, {"-I", folder});
    } else if (argument.starts_with("-D")) {
      const std::string macro = value(argument, 2);
      if (macro.starts_with("__CUDA_ARCH__=")) {
        result_.architecture = macro.substr(macro.find('=') + 1);
      } else {
        append(result_.preprocess, {"-D", macro});
      }
    } else if (argument == "-U") {
      pair(result_.preprocess, argument);
    } else if (argument.starts_with("-D") || argument.starts_with("-U") ||
               argument.starts_with("-i") || argument.starts_with("-Wp,") ||
               argument.starts_with("-nostdinc") || argument.starts_with("--sysroot=")) {
      result_.preprocess.push_back(argument);
    } else if (argument.starts_with("-l") || argument.starts_with("-Wl,")) {
      const std::string name = argument == "-l" ? "-l" + value(argument, 2) : argument;
      result_.inputs.push_back({InputKind::link, name, ""});
    } else if (is_one_of(argument, {"-L", "-T", "-u", "-z", "-e", "-Xlinker"})) {
      pair(result_.link, argument);
    } else if (argument.starts_with("-L") || argument.starts_with("-static") ||
               argument.starts_with("-nostdlib") || argument.starts_with("-nodefaultlibs") ||
               is_one_of(argument, {"-rdynamic", "-pie", "-no-pie"})) {
      result_.link.push_back(argument);
    } else if (is_one_of(argument, {"--param", "-Xassembler", "-aux-info", "-dumpbase"})) {
      pair(result_.compile, argument);
    } else {
      result_.compile.push_back(argument);
    }
  }

  static void append(Arguments& list, const Arguments& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  void pair(Arguments& list, const std::string& option) {
    append(list, {option, value(option, option.size())});
  }

  void language(const std::string& name) {
    if (!is_one_of(name, {"cu", "cuda", "c++", "c", "none"})) {
      throw UsageError("-x " + name + ": the languages are cu, c++, c and none");
    }
    language_ = name == "none" ? "" : name == "cuda" ? "cu" : name;
  }

  void file(const std::string& path) {
    if (path == "-") throw UsageError("simcc reads files, not standard input");
    Input input;
    input.path = path;
    if (language_.empty()) {
      input.kind = kind_of_file(path);
    } else {
      input.kind = language_ == "cu" ? InputKind::cuda : InputKind::cxx;
      if (language_ != "cu") input.language = language_;
    }
    check_readable(path);
    result_.inputs.push_back(std::move(input));
  }

  void check() const {
    const auto sources =
        std::count_if(result_.inputs.begin(), result_.inputs.end(),
                      [](const Input& input) { return input.kind != InputKind::link; });
    const bool only_options = std::all_of(
        result_.inputs.begin(), result_.inputs.end(),
        [](const Input& input) { return input.kind == InputKind::link && input.path[0] == '-'; });
    if (only_options) throw UsageError("no input files; try simcc --help");
    if (!result_.depfile.empty() && !result_.translate_only) {
      throw UsageError("--depfile goes with --translate (else use -MD -MF FILE)");
    }
    if (result_.translate_only) {
      if (result_.inputs.size() != 1 || result_.inputs[0].kind != InputKind::cuda) {
        throw UsageError("--translate takes one .cu file");
      }
      if (result_.output.empty()) throw UsageError("--translate needs -o OUT.sim.cpp");
    }
    if (result_.compile_only && sources == 0) throw UsageError("-c: no source files");
    if (result_.compile_only && sources > 1 && !result_.output.empty()) {
      throw UsageError("-o with -c takes one source file");
    }
    for (const Input& input : result_.inputs) {
      if (input.path == result_.output) {
        throw UsageError(input.path + ": is both input and output");
      }
    }
  }

  Arguments arguments_;
  std::size_t at_ = 0;
  std::string language_;
  CommandLine result_;
};

// ---- Processes and files
// --------------------------------------------------------------------------

volatile sig_atomic_t g_child = 0;
volatile sig_atomic_t g_signal = 0;  // the last one that came

// Passes an interruption on to the compiler; its end lets us clean up and leave.
extern "C" void forward_signal(int signal) {
  g_signal = signal;
  if (g_child > 0) kill(static_cast<pid_t>(g_child), signal);
}

void forward_signals() {
  struct sigaction action = {};
  action.sa_handler = forward_signal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

// Thrown when a command failed and has said why.
struct CommandFailed {
  int status;
};

// Runs a program of the PATH and waits for it. Throws CommandFailed unless it returns 0.
void run(const Arguments& command, bool verbose) {
  if (verbose) {
    for (const std::string& word : command) std::cerr << word << ' ';
    std::cerr << std::endl;
  }
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  // A signal that comes before g_child is known would be lost: it waits until then.
  sigset_t all, mask;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) g_child = child;
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  const auto refuse = [&](const char* why) {
    throw UsageError("cannot run " + command[0] + ": " + why +
                     "; install g++ or name it in SIMT_CXX");
  };
  if (error != 0) refuse(std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  g_child = 0;
  if (g_signal != 0) throw CommandFailed{128 + g_signal};
  if (WIFSIGNALED(status)) throw CommandFailed{128 + WTERMSIG(status)};
  // Under an emulator posix_spawn may only tell so that there is no such program.
  constexpr int kNotFound = 127;
  if (WEXITSTATUS(status) == kNotFound) refuse("it was not found, or ended with 127");
  if (WEXITSTATUS(status) != 0) throw CommandFailed{1};
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* parent = std::getenv("TMPDIR");
    if (parent == nullptr || *parent == '\0') parent = "/tmp";
    std::string name = std::string(parent) + "/simcc-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw UsageError(std::string("cannot make a temporary folder in ") + parent + ": " +
                       std::strerror(errno) + "; set TMPDIR to a folder you can write to");
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path file(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw UsageError(path.string() + ": cannot be read");
  return std::move(text).str();
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw UsageError(path.string() + ": cannot be written: " + std::strerror(errno));
}

std::string demangled(const char* name) {
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, nullptr);
  const std::string result = text != nullptr ? text : name;
  std::free(text);
  return result;
}

// ptxas' limit, for each file that is compiled. Removes an object that is beyond it.
void require_constants_fit(const std::string& source, const std::string& object) {
  constexpr std::uint64_t kMost = 65536;
  const std::string bytes = read_file(object);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header->e_shoff);
  const char* names = bytes.data() + sections[header->e_shstrndx].sh_offset;
  const auto is_constant = [&](std::size_t i) {
    return i < header->e_shnum && names + sections[i].sh_name == std::string_view("simt_constant");
  };
  std::uint64_t sum = 0;
  std::string variables;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const char* words = bytes.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes.data() + sections[i].sh_offset);
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k) {
      const Elf64_Sym& symbol = symbols[k];
      const std::string name = demangled(words + symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || !is_constant(symbol.st_shndx)) continue;
      if (name.find("simt_guard_") != std::string::npos) continue;
      sum += symbol.st_size;
      variables += (variables.empty() ? "" : ", ") + name + " " + std::to_string(symbol.st_size);
    }
  }
  if (sum <= kMost) return;
  std::error_code ignored;
  fs::remove(object, ignored);
  std::cerr << source << ": error: too much __constant__ data: " << sum << " bytes (" << variables
            << "), a GPU has " << kMost << '\n';
  throw CommandFailed{1};
}

// ---- The steps
// ------------------------------------------------------------------------------------

// The simulator's headers stand behind the user's own folders: a stand-in for what they refuse is
// found first.
const Arguments kHeaders = {"-isystem", SIMT_INCLUDE_DIR};

class Driver {
 public:
  explicit Driver(CommandLine line) : line_(std::move(line)) {
    const char* cxx = std::getenv("SIMT_CXX");
    cxx_ = cxx != nullptr && *cxx != '\0' ? cxx : SIMT_CXX;
  }

  void run_all() {
    if (!fs::exists(fs::path(SIMT_INCLUDE_DIR) / "cuda_runtime.h")) {
      throw UsageError(
          std::string(SIMT_INCLUDE_DIR) +
          "/cuda_runtime.h is missing: this simcc belongs to a source folder that moved");
    }
    if (line_.translate_only) {
      const std::string depfile = line_.depfile;
      Arguments dependencies;
      if (!depfile.empty()) dependencies = {"-MD", "-MF", depfile, "-MQ", line_.output};
      try {
        write_file(line_.output, translated(line_.inputs[0], dependencies));
      } catch (...) {
        std::error_code ignored;
        if (!depfile.empty()) fs::remove(depfile, ignored);
        throw;
      }
      return;
    }
    Arguments linked;
    for (std::size_t i = 0; i < line_.inputs.size(); ++i) {
      const Input& input = line_.inputs[i];
      if (input.kind == InputKind::link) {
        linked.push_back(input.path);
        continue;
      }
      const std::string stem = fs::path(input.path).stem().string();
      std::string object = folder_.file(std::to_string(i) + "-" + stem + ".o").string();
      if (line_.compile_only) object = line_.output.empty() ? stem + ".o" : line_.output;
      if (input.kind == InputKind::cuda) {
        compile_cuda(input, object, i);
      } else {
        compile_cxx(input, object);
      }
      linked.push_back(object);
    }
    if (!line_.compile_only) link(linked);
  }

 private:
  // -MD and its like, with the object as the target, as if g++ made it in one step.
  Arguments dependency_arguments(const std::string& object) const {
    Arguments result = line_.dependencies;
    if (result.empty()) return result;
    const auto has = [&](const char* option) {
      return std::find(result.begin(), result.end(), option) != result.end();
    };
    if (!has("-MT") && !has("-MQ")) result.insert(result.end(), {"-MQ", object});
    if (!has("-MF")) {
      result.insert(result.end(), {"-MF", fs::path(object).replace_extension(".d").string()});
    }
    return result;
  }

  // Preprocesses and translates one .cu file.
  std::string translated(const Input& input, const Arguments& dependencies) {
    const std::string preprocessed = folder_.file("preprocessed.ii").string();
    Arguments command = {cxx_,
                         "-E",
                         "-x",
                         "c++",
                         "-D__CUDACC__",
                         "-D__NVCC__",
                         "-D__CUDA_ARCH_LIST__=" + line_.architecture};
    append(command, kHeaders);
    append(command, {"-include", "cuda_runtime.h"});
    append(command, line_.compile);
    append(command, line_.preprocess);
    // Behind the user's own folders: the headers include the runtime's by its place in the tree.
    append(command, {"-idirafter", SIMT_ROOT_DIR});
    Arguments device = command;
    append(command, dependencies);
    append(command, {input.path, "-o", preprocessed});
    run(command, line_.verbose);
    const std::string host_text = read_file(preprocessed);
    if (!asks_for_architecture(host_text)) return translated_text(host_text, input);
    append(device, {"-D__CUDA_ARCH__=" + line_.architecture, input.path, "-o", preprocessed});
    run(device, line_.verbose);
    return translated_text(simt::join_worlds(host_text, read_file(preprocessed), input.path),
                           input);
  }

  std::string translated_text(const std::string& text, const Input& input) const {
    return simt::translate(text, input.path, line_.relaxed_constexpr);
  }

  // Does any of the user's files know that nvcc compiles it once more for the device?
  static bool asks_for_architecture(const std::string& preprocessed) {
    for (const std::string& name : simt::user_files(preprocessed)) {
      std::ifstream in(name, std::ios::binary);
      std::ostringstream text;
      text << in.rdbuf();
      if (text.str().find("__CUDA_ARCH__") != std::string::npos) return true;
    }
    return false;
  }

  void compile_cuda(const Input& input, const std::string& object, std::size_t number) {
    const std::string name = fs::path(input.path).stem().string() + ".sim.cpp";
    const std::string source = folder_.file(std::to_string(number) + "-" + name).string();
    const std::string text = translated(input, dependency_arguments(object));
    write_file(source, text);
    if (line_.keep) {
      const fs::path kept = fs::path(line_.output).parent_path() / name;
      write_file(kept, text);
      std::cerr << "simcc: kept " << kept.string() << '\n';
    }
    Arguments command = {cxx_, "-c", "-x", "c++-cpp-output"};
    append(command, line_.compile);
    // Line numbers are enough for the reports; a debugger may want more.
    const bool more_debug = is_one_of(line_.debug, {"-g", "-g2", "-g3", "-ggdb", "-ggdb3"});
    append(command, {"-O1", more_debug ? line_.debug : "-g1"});
    append(command, words(SIMT_INSTRUMENT_ARGS));
    append(command, {source, "-o", object});
    run(command, line_.verbose);
    require_constants_fit(input.path, object);
  }

  void compile_cxx(const Input& input, const std::string& object) {
    Arguments command = {cxx_, "-c"};
    append(command, kHeaders);
    append_common(command);
    append(command, line_.preprocess);
    append(command, {"-idirafter", SIMT_ROOT_DIR});
    append(command, dependency_arguments(object));
    if (!input.language.empty()) append(command, {"-x", input.language});
    append(command, {input.path, "-o", object});
    run(command, line_.verbose);
  }

  void link(const Arguments& linked) {
    if (!fs::exists(SIMT_LIBRARY)) {
      throw UsageError(SIMT_LIBRARY " is missing: build it first (ninja in its build folder)");
    }
    Arguments command = {cxx_};
    append_common(command);
    append(command, line_.link);
    append(command, linked);
    append(command, {SIMT_LIBRARY, "-lboost_context", "-lbacktrace", "-lpthread", "-o",
                     line_.output.empty() ? "a.out" : line_.output});
    run(command, line_.verbose);
  }

  static Arguments words(const std::string& text) {
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
  }

  static void append(Arguments& list, const Arguments& more) {
    list.insert(list.end(), more.begin(), more.end());
  }

  void append_common(Arguments& command) const {
    append(command, line_.compile);
    if (!line_.optimisation.empty()) command.push_back(line_.optimisation);
    if (!line_.debug.empty()) command.push_back(line_.debug);
  }

  CommandLine line_;
  std::string cxx_;
  TemporaryFolder folder_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    CommandLine line = CommandLineReader(Arguments(argv + 1, argv + argc)).read();
    if (line.help) {
      std::cout << kHelp;
      return 0;
    }
    if (line.version) {
      std::cout << "simcc " SIMT_VERSION "\n";
      return 0;
    }
    forward_signals();
    leave_toolkits_out_of_environment();
    Driver(std::move(line)).run_all();
    return 0;
  } catch (const CommandFailed& failure) {
    return failure.status;
  } catch (const simt::TranslateError& error) {
    std::cerr << error.what() << '\n';
    return 1;
  } catch (const UsageError& error) {
    std::cerr << "simcc: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "simcc: " << error.what() << '\n';
    return 2;
  }
}
